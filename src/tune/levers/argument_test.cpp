#include "tune/levers/argument.h"

#include <gtest/gtest.h>

#include "tune/levers/class_argument.h"

namespace unstarve::tune {
namespace {

using Words = std::vector<std::string>;

TEST(Argument, IsReadFromTheCommand) {
  const Words command = {"python", "train.py", "--workers", "2", "--batch-size=32"};
  const auto workers = read_argument("workers=--workers", command);
  ASSERT_TRUE(workers.has_value());
  EXPECT_EQ(workers->value, 2);
  EXPECT_EQ(read_argument("batch=--batch-size", command)->value, 32);
  for (const char* wrong : {"", "=", "batch", "batch=", "=--b", "batch=--other", "Batch=--workers",
                            "../x=--workers", "batch=train.py"}) {
    EXPECT_FALSE(read_argument(wrong, command).has_value()) << wrong;
  }
}

TEST(Argument, OfAClassIsReadWithoutTheCommand) {
  const Words command = {"python", "train.py"};
  for (const char* known : {"batch=DataLoader.batch_size", "workers=DataLoader.num_workers",
                            "batch=TrainingArguments.per_device_train_batch_size",
                            "accumulation=TrainingArguments.gradient_accumulation_steps",
                            "workers=TrainingArguments.dataloader_num_workers",
                            "accumulation=Trainer.accumulate_grad_batches"}) {
    EXPECT_TRUE(read_argument(known, command).has_value()) << known;
  }
  for (const char* unknown : {"batch=DataLoader.batch", "batch=Loader.batch_size",
                              "batch=DataLoader.", "batch=DataLoader.batch_size.x"}) {
    const auto read = read_argument(unknown, command);
    ASSERT_FALSE(read.has_value()) << unknown;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(read.error().message.find("workers=DataLoader.num_workers"), std::string::npos);
    EXPECT_NE(read.error().message.find("Trainer.accumulate_grad_batches"), std::string::npos);
  }
  const auto mistaken = read_argument("workers=DataLoader.batch_size", command);
  ASSERT_FALSE(mistaken.has_value());
  EXPECT_NE(mistaken.error().message.find("write batch=DataLoader.batch_size"), std::string::npos);
}

TEST(Argument, AnOptionWithADotIsTheCommandsOwn) {
  const auto read = read_argument("batch=Data.batch", {"python", "train.py", "Data.batch=16"});
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->value, 16);
}

TEST(Argument, OfAClassGoesToTheHookAndNotIntoTheCommand) {
  const Words command = {"python", "train.py", "DataLoader.batch_size=8", "--accumulate", "2"};
  const Lever batch = argument_lever({"batch", "DataLoader.batch_size", 8}, 16);
  const Lever both = both_levers(batch, argument_lever({"accumulation", "--accumulate", 2}, 1));
  EXPECT_EQ(with_arguments(command, {&both}),
            (Words{"python", "train.py", "DataLoader.batch_size=8", "--accumulate", "1"}));
  const Words asked = {"batch=DataLoader.batch_size", "accumulation=--accumulate",
                       "workers=DataLoader.num_workers"};
  EXPECT_EQ(hook_arguments(asked, {}),
            R"({"DataLoader.batch_size":null,"DataLoader.num_workers":null})");
  EXPECT_EQ(hook_arguments(asked, {&both}),
            R"({"DataLoader.batch_size":16,"DataLoader.num_workers":null})");
  EXPECT_EQ(hook_arguments({"accumulation=--accumulate"}, {}), "");
  EXPECT_EQ(batch.permanent, "batch_size=16 in DataLoader(...)");
  EXPECT_EQ(batch.what, "DataLoader.batch_size 16 in the place of 8");
  EXPECT_EQ(batch.numerics, Numerics::kTrajectory);
}

}  // namespace
}  // namespace unstarve::tune
