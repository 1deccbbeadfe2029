#include "observe/import/object_scan.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace unstarve::observe {
namespace {

struct Found {
  std::size_t done = 0;
  std::vector<std::string> objects;
  bool operator==(const Found&) const = default;
};

template <class Scan>
Found found_by(Scan scan, const std::string& text) {
  const std::string padded = text + std::string(64, '}');  // what lies behind must not matter
  std::vector<ObjectSpan> spans;
  Found found;
  found.done = scan(std::string_view(padded).substr(0, text.size()), spans);
  for (const ObjectSpan& span : spans) {
    found.objects.push_back(text.substr(span.begin, span.end - span.begin));
  }
  return found;
}

Found find(const std::string& text) { return found_by(find_objects, text); }

TEST(ObjectScan, FindsObjectsUntilTheArrayEnds) {
  const Found found = find(" {\"a\":{}} ,\n{\"b\":[{},1]}], \"next\": {\"c\": 1}}");
  EXPECT_EQ(found.objects, (std::vector<std::string>{"{\"a\":{}}", "{\"b\":[{},1]}"}));
  EXPECT_EQ(found.done, 24U);
}

TEST(ObjectScan, BracesInStringsDoNotCount) {
  const std::string object = R"({"name":"lambda()#1}{{ \" } \\","x":"\\\\"})";
  EXPECT_EQ(find(object + "," + object).objects, (std::vector<std::string>{object, object}));
}

TEST(ObjectScan, LeavesAnIncompleteObject) {
  EXPECT_EQ(find("{\"a\":1},{\"b\":\"}").done, 7U);
  EXPECT_EQ(find("{\"a\":1").done, 0U);
  EXPECT_EQ(find("").done, 0U);
}

TEST(ObjectScan, StopsAtWhatIsNoObject) {
  EXPECT_EQ(find("{},1,{}").objects.size(), 1U);
  EXPECT_EQ(find("{}}{}").objects.size(), 1U);
  EXPECT_EQ(find("\"x\",{}").objects.size(), 0U);
}

TEST(ObjectScan, AgreesWithThePlainScanOnRandomText) {
  // Weighted towards what the scan looks at; long runs of one byte test the carries between blocks.
  constexpr std::string_view kAlphabet = "{{{}}}\"\"\\\\,, a[]\n:";
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    const std::size_t length = random() % 300;
    while (text.size() < length) {
      const std::size_t run = random() % 8 == 0 ? random() % 70 : 1;
      text.append(run, kAlphabet[random() % kAlphabet.size()]);
    }
    ASSERT_EQ(find(text), found_by(find_objects_plain, text)) << text;
  }
}

TEST(ObjectScan, AgreesWithThePlainScanOnWellFormedText) {
  std::mt19937 random(11);
  const std::string filler(130, 'x');
  for (int round = 0; round < 2'000; ++round) {
    std::string text;
    for (std::size_t i = 0; i < 1 + random() % 6; ++i) {
      text += "{\"n\":\"" + filler.substr(0, random() % 130) + std::string(random() % 5 * 2, '\\') +
              "\",\"args\":{\"q\":\"}\\\"{\"}},";
    }
    const Found found = find(text);
    ASSERT_EQ(found, found_by(find_objects_plain, text)) << text;
    ASSERT_EQ(found.done + 1, text.size()) << text;
  }
}

}  // namespace
}  // namespace unstarve::observe
