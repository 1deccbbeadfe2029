#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "feed/source/arrow/arrow_source.h"
#include "feed/source/arrow/testing/made_stream.h"

namespace {

using namespace unstarve;

/// The input, a number at a time; zeros behind its end.
class Numbers {
 public:
  Numbers(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  std::int64_t next() { return at_ < size_ ? static_cast<std::int8_t>(data_[at_++]) : 0; }
  bool more() const { return at_ < size_; }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

void read_lengths(Numbers& numbers, feed::test::MadeArray& array) {
  array.length = numbers.next();
  array.offset = numbers.next();
  array.null_count = numbers.next();
  if (numbers.next() % 2 != 0) return;
  array.validity.emplace();
  for (std::int64_t bit = 0; bit < array.length + array.offset; bit += 8) {
    array.validity->push_back(static_cast<std::uint8_t>(numbers.next()));
  }
}

/// The last offset says how many bytes there are: of that every reader has to believe the producer.
feed::test::MadeArray read_binary(Numbers& numbers, bool is_large) {
  feed::test::MadeArray array;
  read_lengths(numbers, array);
  array.is_large = is_large;
  for (std::int64_t i = 0; i <= array.length + array.offset; ++i) {
    array.offsets.push_back(numbers.next());
  }
  if (!array.offsets.empty() && array.offsets.back() > 0) {
    array.bytes.assign(static_cast<std::size_t>(array.offsets.back()), 'x');
  }
  return array;
}

}  // namespace

/// Arrays of other libraries: buffers are as long as the interface demands, what stands in them is
/// anything. Of a column that is accepted every row is read or refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Numbers numbers(data, size);
  const bool is_large = numbers.next() % 2 != 0;
  std::vector<feed::test::MadeChunk> chunks;
  while (numbers.more() && chunks.size() < 8) {
    feed::test::MadeChunk& chunk = chunks.emplace_back();
    read_lengths(numbers, chunk.table);
    read_lengths(numbers, chunk.column);
    chunk.bytes = read_binary(numbers, is_large);
    chunk.path = read_binary(numbers, is_large);
  }
  feed::test::MadeStream made(std::move(chunks));
  if (is_large) made.format = "Z";
  {
    auto column = feed::ImageColumn::open(made.stream);
    if (column) {
      for (std::uint64_t row = 0; row < column->size(); ++row) {
        const auto found = column->at(row);
        if (found && found->bytes) {
          UNSTARVE_CHECK(std::all_of(found->bytes->begin(), found->bytes->end(),
                                     [](std::byte one) { return one == std::byte{'x'}; }),
                         "a row lies within its bytes");
        }
      }
    }
  }
  UNSTARVE_CHECK(*made.alive == 0, "every array is released");
  return 0;
}
