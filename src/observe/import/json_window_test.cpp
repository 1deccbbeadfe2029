#include "observe/import/json_window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "observe/import/kineto.h"

namespace unstarve::observe {
namespace {

/// Gives its text in pieces of at most `piece` bytes, then ends, or fails when told to.
class PieceSource final : public ByteSource {
 public:
  PieceSource(std::string text, std::size_t piece, bool fails_at_end = false)
      : text_(std::move(text)), piece_(piece), fails_at_end_(fails_at_end) {}

  Result<std::size_t> read(std::span<char> target) override {
    const std::size_t count = std::min({target.size(), piece_, text_.size() - done_});
    if (count == 0 && fails_at_end_) return fail(ErrorCode::kIo, "the disk is gone");
    std::memcpy(target.data(), text_.data() + done_, count);
    done_ += count;
    return count;
  }
  std::uint64_t done_bytes() const override { return done_; }
  std::uint64_t total_bytes() const override { return text_.size(); }

 private:
  std::string text_;
  std::size_t piece_;
  bool fails_at_end_;
  std::size_t done_ = 0;
};

std::string numbered(std::size_t bytes) {
  std::string text;
  for (int i = 0; text.size() < bytes; ++i) text += std::to_string(i) + " ";
  return text;
}

TEST(JsonWindow, SlidesOverATextOfAnyLength) {
  const std::string text = numbered(10'000);
  PieceSource source(text, 7);
  JsonWindow window(source, 256, 256);
  std::string seen;
  for (int c = window.peek(); c != JsonWindow::kEnd; c = window.peek()) {
    EXPECT_EQ(window.offset(), seen.size());
    seen.push_back(static_cast<char>(c));
    window.consume(1);
  }
  EXPECT_EQ(seen, text);
  EXPECT_FALSE(window.error().has_value());
}

TEST(JsonWindow, GrowsForAValueThatDoesNotFit) {
  const std::string text = numbered(5'000);
  PieceSource source(text, 1'000);
  JsonWindow window(source, 256, 1 << 20);
  window.peek();
  window.consume(100);
  while (window.read_more()) {
  }
  EXPECT_EQ(window.unread(), std::string_view(text).substr(100));
  EXPECT_EQ(window.offset(), 100U);
}

TEST(JsonWindow, RefusesAValueThatIsTooLong) {
  PieceSource source(numbered(5'000), 1'000);
  JsonWindow window(source, 256, 1'024);
  while (window.read_more()) {
  }
  ASSERT_TRUE(window.error().has_value());
  EXPECT_NE(window.error()->message.find("longer than 1024"), std::string::npos);
}

TEST(JsonWindow, AFailedReadIsTheEndAndStays) {
  PieceSource source("abc", 2, true);
  JsonWindow window(source, 256, 256);
  EXPECT_EQ(window.peek(), JsonWindow::kEnd);
  ASSERT_TRUE(window.error().has_value());
  EXPECT_EQ(window.error()->message, "the disk is gone");
  EXPECT_FALSE(window.read_more());
}

TEST(JsonWindow, AFileThatCannotBeReadIsAnError) {
  // Opens as a regular file, and every read of its first byte fails.
  const auto timeline = import_kineto("/proc/self/mem");
  ASSERT_FALSE(timeline);
  EXPECT_EQ(timeline.error().code, ErrorCode::kIo) << timeline.error().message;
}

}  // namespace
}  // namespace unstarve::observe
