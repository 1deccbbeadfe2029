#include "diagnose/signals/fetch_work.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "diagnose/lines/known_calls.h"

namespace unstarve::diagnose {
namespace {

trace::Stack fetching(const std::string& call, const std::string& callee = {}) {
  trace::Stack stack;
  stack.in_fetch = true;
  stack.line = "data.py:12";
  stack.call = call;
  stack.callee = callee;
  return stack;
}

TEST(FetchWork, IsToldByTheFunctionThatIsCalled) {
  const std::vector<std::pair<const char*, FetchWork>> callees = {
      {"transformers/tokenization_utils_base.py __call__", FetchWork::kTokenizing},
      {"pandas/core/indexing.py __getitem__", FetchWork::kTableRows},
      {"pandas/io/parsers/readers.py read_csv", FetchWork::kParsing},
      {"torchaudio/transforms/_transforms.py forward", FetchWork::kSound},
      {"librosa/feature/spectral.py melspectrogram", FetchWork::kSound},
      {"h5py/_hl/files.py __init__", FetchWork::kOpening},
      {"h5py/_hl/dataset.py __getitem__", FetchWork::kArrayFiles},
      {"requests/api.py get", FetchWork::kConnecting},
      {"re/__init__.py findall", FetchWork::kParsing},
      {"zipfile.py __init__", FetchWork::kOpening},
      {"zipfile.py read", FetchWork::kDecompressing},
      {"gzip.py read", FetchWork::kDecompressing},
      {"nibabel/dataobj_images.py get_fdata", FetchWork::kArrayFiles},
      {"numpy/lib/_npyio_impl.py load", FetchWork::kArrayFiles},
      {"numpy/lib/_npyio_impl.py __getitem__", FetchWork::kDecompressing},
      {"numpy/lib/_npyio_impl.py loadtxt", FetchWork::kParsing},
      {"datasets/arrow_dataset.py __getitem__", FetchWork::kTableRows},
      {"torchvision/io/video.py read_video", FetchWork::kVideo},
      {"PIL/Image.py resize", FetchWork::kResizing},
  };
  for (const auto& [callee, work] : callees) {
    EXPECT_EQ(fetch_work(fetching("anything(x)", callee)), work) << callee;
    EXPECT_EQ(what_runs(fetching("anything(x)", callee)).empty(), false) << callee;
  }
}

TEST(FetchWork, OfCompiledFunctionsIsToldByTheLine) {
  const std::vector<std::pair<const char*, FetchWork>> calls = {
      {"self.tokenizer.encode(text)", FetchWork::kTokenizing},
      {"self.frame.iloc[index]", FetchWork::kTableRows},
      {"h5py.File(self.path)", FetchWork::kOpening},
      {"sqlite3.connect(path)", FetchWork::kConnecting},
      {"cursor.execute(QUERY, (index,))", FetchWork::kQueries},
      {"fetchall()", FetchWork::kQueries},
      {"cv2.VideoCapture(path)", FetchWork::kVideo},
      {"cap.set(cv2.CAP_PROP_POS_FRAMES, start)", FetchWork::kVideo},
      {"cv2.resize(image, (224, 224))", FetchWork::kResizing},
      {"zlib.decompress(raw)", FetchWork::kDecompressing},
  };
  for (const auto& [call, work] : calls) EXPECT_EQ(fetch_work(fetching(call)), work) << call;
}

TEST(FetchWork, OfOtherFunctionsIsNotGuessed) {
  EXPECT_FALSE(fetch_work(fetching("self.images[index]")));
  EXPECT_FALSE(fetch_work(fetching("Image.open(path)", "PIL/Image.py open")));
  // A session is what its remedy asks for.
  EXPECT_FALSE(fetch_work(fetching("self.session.get(url)", "requests/sessions.py get")));
  // The line may name what another function that it calls is at.
  EXPECT_FALSE(fetch_work(fetching("pad(tokenizer(text))", "numpy/lib/_arraypad_impl.py pad")));
}

TEST(FetchWork, IsInTheWordsOfALineThatFetches) {
  trace::Stack stack = fetching("self.frame.iloc[index]");
  EXPECT_EQ(what_runs(stack), "taking a row out of a table");
  stack = fetching("torch.load(path)", "torch/serialization.py load");
  EXPECT_EQ(what_runs(stack), "reading an array file");
  stack.in_fetch = false;
  EXPECT_EQ(what_runs(stack), "loading a checkpoint");
}

TEST(FetchWork, IsNamedInTheTrainingThreadWhereItMakesData) {
  trace::Stack stack = fetching("tokenizer.encode(chunk)");
  stack.in_fetch = false;
  EXPECT_EQ(what_runs(stack), "tokenizing");
  stack.function = "evaluate";
  EXPECT_EQ(what_runs(stack), "evaluation");
  stack = fetching("h5py.File(path)");  // which the script may do for a reason
  stack.in_fetch = false;
  EXPECT_EQ(what_runs(stack), "");
}

}  // namespace
}  // namespace unstarve::diagnose
