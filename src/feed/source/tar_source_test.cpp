#include "feed/source/tar_source.h"
#include "base/io/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>

#include "base/testing/test_folder.h"
#include "feed/source/index_cache.h"
#include "feed/source/testing/tar_bytes.h"

namespace unstarve::feed {
namespace {

namespace fs = std::filesystem;
using test::TarBytes;
using testing::ElementsAre;
using testing::HasSubstr;

class TarSourceTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    fs::last_write_time(path(name),
                        fs::file_time_type::clock::now() - std::chrono::seconds(age_s_));
  }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  TarSource::Options options(const std::string& name) const {
    TarSource::Options options;
    options.path = path(name);
    options.cache_folder = path("cache");
    options.kept_from_samples = 0;
    return options;
  }
  std::shared_ptr<TarSource> open(const std::string& name) const {
    auto source = TarSource::open(options(name));
    EXPECT_TRUE(source) << source.error().message;
    return source ? *source : nullptr;
  }
  std::string message(const std::string& name) const {
    const auto source = TarSource::open(options(name));
    return source ? "opened" : source.error().message;
  }
  static std::string text(SampleReader& reader, std::uint64_t index) {
    const auto sample = reader.read(index);
    if (!sample) return sample.error().message;
    return {reinterpret_cast<const char*>(sample->bytes.data()), sample->bytes.size()};
  }

  int age_s_ = 100;
  TestFolder folder_;
};

TEST_F(TarSourceTest, GroupsByTheNameUpToItsFirstDot) {
  write("a.tar", TarBytes()
                     .add("d/", "", '5')
                     .add("d/1.cls", "7")
                     .add("d/1.jpg", "one")
                     .add("d/1.json", "{}")
                     .add("d/2.JPEG", std::string(1000, 'x'))
                     .add("d/2.seg.jpg", "no")
                     .add("d/2.cls", "-3\n")
                     .add("d/3.bmp", "three")
                     .add("d/3.cls", "3")
                     .add("README", "no dot")
                     .end());
  const auto source = open("a.tar");
  ASSERT_EQ(source->size(), 3U);
  EXPECT_EQ(source->label(0), 7);
  EXPECT_EQ(source->label(1), -3);
  EXPECT_EQ(source->label(2), 3);
  const auto reader = *source->open_reader();
  EXPECT_EQ(text(*reader, 0), "one");
  EXPECT_EQ(text(*reader, 1), std::string(1000, 'x'));
  EXPECT_EQ(text(*reader, 2), "three");
  EXPECT_EQ(source->locate(0), path("a.tar") + " at offset 2048");
}

TEST_F(TarSourceTest, LabelsFindTheirImagesAcrossTheTar) {
  const std::string names = "132";
  TarBytes behind;
  TarBytes before;
  for (const char name : names) behind.add(std::string("d/") + name + ".jpg", {&name, 1});
  for (const char name : names) behind.add(std::string("d/") + name + ".cls", {&name, 1});
  for (const char name : names) before.add(std::string("d/") + name + ".cls", {&name, 1});
  for (const char name : names) before.add(std::string("d/") + name + ".jpg", {&name, 1});
  write("behind.tar", behind.end());
  write("before.tar", before.end());
  for (const char* name : {"behind.tar", "before.tar", "behind.tar"}) {
    const auto source = open(name);
    ASSERT_EQ(source->size(), 3U) << name;
    const auto reader = *source->open_reader();
    for (std::uint64_t i = 0; i < 3; ++i) {
      EXPECT_EQ(std::to_string(source->label(i)), text(*reader, i)) << name;
    }
    EXPECT_THAT(source->left_out(), ElementsAre());
  }
}

TEST_F(TarSourceTest, RefusesLabelsThatMayBeOfSeveralImages) {
  write("a.tar", TarBytes()
                     .add("1.jpg", "a")
                     .add("2.jpg", "b")
                     .add("1.jpg", "c")
                     .add("x.y", "")
                     .add("1.cls", "1")
                     .add("2.cls", "2")
                     .end());
  EXPECT_THAT(message("a.tar"), HasSubstr("several images or labels of one name"));
  write("a.tar", TarBytes()
                     .add("1.jpg", "a")
                     .add("2.jpg", "b")
                     .add("1.cls", "1")
                     .add("2.cls", "2")
                     .add("1.cls", "3")
                     .end());
  EXPECT_THAT(message("a.tar"), HasSubstr("the label at offset 4608 is of several"));
}

TEST_F(TarSourceTest, SaysWhatIsLeftOut) {
  write("s0.tar", TarBytes().add("1.jpg", "a").add("1.cls", "1").end());
  write("s1.tar", TarBytes().end());
  write("s2.tar",
        TarBytes().add("1.jpg", "a").add("1.cls", "1").add("2.cls", "2").add("3.cls", "3").end());
  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto source = open("s*.tar");
    ASSERT_EQ(source->size(), 2U);
    EXPECT_THAT(source->left_out(),
                ElementsAre("tars without a sample: 1 of 3, the first is " + path("s1.tar"),
                            "labels without an image, left out: 2, the first in " + path("s2.tar") +
                                " at offset 2560"))
        << (repeat == 0 ? "scanned" : "from the kept index");
  }
  write("s2.tar",
        TarBytes().add("1.jpg", "a").add("1.cls", "1").add("2.ppm", "b").add("2.cls", "1").end());
  TarSource::Options settings = options("s*.tar");
  settings.skip_other_formats = true;
  EXPECT_THAT((*TarSource::open(settings))->left_out(),
              testing::Contains("samples in formats that are not decoded here, left out: 1"));
}

TEST_F(TarSourceTest, AnEmptyFileIsNoTar) {
  write("s0.tar", TarBytes().add("1.jpg", "a").end());
  write("s1.tar", "");
  EXPECT_THAT(message("s*.tar"), testing::AllOf(HasSubstr(path("s1.tar")), HasSubstr("0 bytes")));
  TarSource::Options settings = options("s*.tar");
  settings.accept_cut = true;
  const auto source = *TarSource::open(settings);
  ASSERT_EQ(source->size(), 2U);
  EXPECT_THAT(text(**source->open_reader(), 1), HasSubstr("cut off here"));
}

TEST_F(TarSourceTest, ReadsLongNames) {
  const std::string name = std::string(150, 'n');
  write("a.tar", TarBytes()
                     .add("@LongLink", name + "a.jpg", 'L')
                     .add(name, "gnu")
                     .add_pax("path", name + "b.jpg")
                     .add(name, "pax")
                     .add("3.jpg", "plain")
                     .unended());
  const auto source = open("a.tar");
  ASSERT_EQ(source->size(), 3U);
  const auto reader = *source->open_reader();
  EXPECT_EQ(text(*reader, 0), "gnu");
  EXPECT_EQ(text(*reader, 1), "pax");
  EXPECT_EQ(source->label(2), 0) << "no sample has a label";
}

TEST_F(TarSourceTest, SeveralTarsAreOneInTheOrderOfTheirNames) {
  write("s-010.tar", TarBytes().add("1.jpg", "c").end());
  write("s-009.tar", TarBytes().add("1.jpg", "a").add("2.jpg", "b").end());
  write("other.tar", TarBytes().add("1.jpg", "d").end());
  const auto all = [&](const std::string& name) {
    const auto source = open(name);
    const auto reader = *source->open_reader();
    std::string texts;
    for (std::uint64_t i = 0; i < source->size(); ++i) texts += text(*reader, i);
    return texts;
  };
  EXPECT_TRUE(TarSource::is_tars(folder_.path()));
  EXPECT_EQ(all(""), "dabc");
  EXPECT_EQ(all("s-{009..010}.tar"), "abc");
  EXPECT_EQ(all("s-*.tar"), "abc");
  EXPECT_EQ(all("{other,s-010}.tar"), "dc");
  EXPECT_THAT(message("s-{009..011}.tar"), HasSubstr("s-011.tar"));
  EXPECT_THAT(message("{0..9}{0..9}{0..9}{0..9}{0..9}{0..9}{0..9}.tar"), HasSubstr("more than"));
}

TEST_F(TarSourceTest, TheSecondTimeNothingIsScanned) {
  write("a.tar", TarBytes().add("1.jpg", "a").add("1.cls", "4").end());
  EXPECT_EQ(open("a.tar")->scanned(), 1U);
  const auto again = open("a.tar");
  EXPECT_EQ(again->scanned(), 0U);
  EXPECT_EQ(again->label(0), 4);
  age_s_ = 50;
  write("a.tar", TarBytes().add("1.jpg", "a").add("2.jpg", "b").end());
  EXPECT_EQ(open("a.tar")->size(), 2U);
  age_s_ = 0;
  write("a.tar", TarBytes().add("1.jpg", "a").end());
  EXPECT_EQ(open("a.tar")->scanned(), 1U);
  EXPECT_EQ(open("a.tar")->scanned(), 1U) << "it may have changed since, within the same tick";
}

TEST_F(TarSourceTest, OfACutTarWhatIsThereIfAsked) {
  const std::string sound = TarBytes()
                                .add("1.jpg", std::string(2000, 'x'))
                                .add("1.cls", "7")
                                .add("2.jpg", "abc")
                                .add("2.cls", "8")
                                .add("3.jpg", "def")
                                .end();
  // Offsets: 1.jpg 512, 1.cls 3072, 2.jpg 4096, 2.cls 5120.
  struct Cut {
    std::size_t size;
    std::uint64_t whole;  // samples before the cut
    std::uint64_t offset;
  };
  for (const Cut& cut :
       {Cut{1500, 0, 512}, {4000, 1, 3584}, {4098, 1, 4096}, {4900, 1, 4608}, {5120, 1, 5120}}) {
    write("a.tar", sound.substr(0, cut.size));
    EXPECT_NE(message("a.tar"), "opened") << cut.size;
    TarSource::Options settings = options("a.tar");
    settings.accept_cut = true;
    for (int repeat = 0; repeat < 2; ++repeat) {
      const auto source = TarSource::open(settings);
      ASSERT_TRUE(source) << cut.size << source.error().message;
      ASSERT_EQ((*source)->size(), cut.whole + 1) << cut.size;
      const auto reader = (*source)->open_reader().value();
      for (std::uint64_t i = 0; i < cut.whole; ++i) EXPECT_TRUE(reader->read(i));
      const auto last = reader->read(cut.whole);
      ASSERT_FALSE(last) << cut.size;
      EXPECT_EQ(last.error().code, ErrorCode::kCorruptData);
      EXPECT_THAT(last.error().message, HasSubstr("cut off here"));
      EXPECT_THAT((*source)->locate(cut.whole), HasSubstr(std::to_string(cut.offset)));
      EXPECT_EQ((*source)->scanned(), 1U) << "an index that is not whole is not kept";
    }
  }
}

TEST_F(TarSourceTest, EachFailedReadIsAnError) {
  class Failing final : public io::Files {
   public:
    Result<std::size_t> read_at(int file, std::uint64_t offset,
                                std::span<std::byte> target) override {
      if (fails) return fail_errno(EIO, "injected");
      return Files::read_at(file, offset, target);
    }
    bool fails = true;
  };
  write("a.tar", TarBytes().add("1.jpg", "abc").end());
  const auto files = std::make_shared<Failing>();
  EXPECT_EQ(TarSource::open(options("a.tar"), files).error().os_errno, EIO);
  files->fails = false;
  const auto source = TarSource::open(options("a.tar"), files);
  ASSERT_TRUE(source) << source.error().message;
  files->fails = true;
  const auto reader = (*source)->open_reader().value();
  const auto failed = reader->read(0);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().os_errno, EIO);
  files->fails = false;
  EXPECT_TRUE(reader->read(0)) << "what failed once does not matter any more";
}

TEST_F(TarSourceTest, SaysWhatItCannotTake) {
  const std::string sound = TarBytes().add("1.jpg", std::string(2000, 'x')).end();
  write("a.tar", sound.substr(0, 1500));
  EXPECT_THAT(message("a.tar"), testing::AllOf(HasSubstr(path("a.tar")), HasSubstr("cut off"),
                                               HasSubstr("offset 512")));
  write("a.tar", sound.substr(0, 300));
  EXPECT_THAT(message("a.tar"), HasSubstr("ends too early at offset 0"));
  write("a.tar", std::string(1024, 'x'));
  EXPECT_THAT(message("a.tar"), HasSubstr("no header at offset 0"));
  write("a.tar", TarBytes().add("1.txt", "x").end());
  EXPECT_THAT(message("a.tar"), HasSubstr("no sample"));
  write("a.tar", TarBytes().add("1.ppm", "x").end());
  EXPECT_THAT(message("a.tar"), HasSubstr("is of a format that is not decoded here"));
  write("a.tar", TarBytes().add("1.jpg", "x").add("1.cls", "cat").end());
  EXPECT_THAT(message("a.tar"), HasSubstr("1.cls at offset 1536 holds no number"));
  write("a.tar", TarBytes().add("1.jpg", "x").add("1.cls", "1").add("2.jpg", "x").end());
  EXPECT_THAT(message("a.tar"), HasSubstr("has no .cls"));
  write("a.tar", sound + std::string(20 * kTarBlock, '\0'));
  EXPECT_EQ(open("a.tar")->size(), 1U);
  write("a.tar", sound + sound);
  EXPECT_THAT(message("a.tar"), HasSubstr("the tar ends at offset 2560, and more follows"));
}

TEST_F(TarSourceTest, ATarThatChangesWhileReadIsAnError) {
  write("a.tar", TarBytes().add("1.jpg", "aaa").add("2.jpg", "bbb").end());
  const auto source = open("a.tar");
  const auto reader = *source->open_reader();
  EXPECT_EQ(text(*reader, 0), "aaa");
  fs::resize_file(path("a.tar"), 700);
  EXPECT_THAT(text(*reader, 1), HasSubstr("changed since it was indexed"));
}

TEST_F(TarSourceTest, NoMutationReachesPastTheTar) {
  const std::string sound = TarBytes()
                                .add_pax("path", std::string(120, 'p') + ".jpg")
                                .add("p", "one")
                                .add("@LongLink", std::string(120, 'q') + ".jpg", 'L')
                                .add("q", "two")
                                .add("3.cls", "5")
                                .add("3.jpg", "three")
                                .end();
  std::mt19937 random(11);
  for (int repeat = 0; repeat < 1000; ++repeat) {
    std::string bytes = sound;
    for (unsigned change = 0; change < 1 + random() % 3; ++change) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    if (repeat % 5 == 0) bytes.resize(random() % bytes.size());
    write("a.tar", bytes);
    TarSource::Options settings = options("a.tar");
    settings.cache_folder.clear();
    const auto source = TarSource::open(settings);
    if (!source) continue;
    const auto reader = *(*source)->open_reader();
    for (std::uint64_t i = 0; i < (*source)->size(); ++i) {
      ASSERT_TRUE(reader->read(i));
      ASSERT_LE((*source)->place(i).sample.offset + (*source)->place(i).sample.size, bytes.size());
    }
  }
}

TEST_F(TarSourceTest, DamagedIndexesAreMadeAnew) {
  write("a.tar", TarBytes().add("1.jpg", "a").add("2.jpg", "b").end());
  open("a.tar");
  const std::string file = IndexCache(path("cache")).path_of(fs::canonical(path("a.tar")), "tar");
  std::ifstream stream(file, std::ios::binary);
  const std::string sound((std::istreambuf_iterator<char>(stream)), {});
  ASSERT_FALSE(sound.empty());
  for (std::size_t i = 0; i < sound.size(); ++i) {
    std::string damaged = sound;
    damaged[i] = static_cast<char>(~damaged[i]);
    if (i % 3 == 0) damaged.resize(i);
    std::ofstream(file, std::ios::binary) << damaged;
    const auto source = open("a.tar");
    ASSERT_EQ(source->scanned(), 1U) << "damage of byte " << i << " went unseen";
    ASSERT_EQ(source->size(), 2U);
  }
}

}  // namespace
}  // namespace unstarve::feed
