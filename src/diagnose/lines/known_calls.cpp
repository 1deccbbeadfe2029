#include "diagnose/lines/known_calls.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "diagnose/signals/fetch_work.h"

namespace unstarve::diagnose {

namespace {

struct Known {
  std::string_view name;
  std::string_view words;
};

// Library functions that a line of the job calls, by the beginning of "FILE FUNCTION".
constexpr std::array kCallees = {
    Known{"torch/serialization.py save", "saving a checkpoint"},
    Known{"torch/serialization.py load", "loading a checkpoint"},
    Known{"torch/distributed/checkpoint/", "saving a checkpoint"},
    Known{"safetensors/torch.py save", "saving a checkpoint"},
    Known{"queue.py get", "waiting for its own queue"},
    Known{"queue.py put", "waiting for its own queue"},
    Known{"multiprocessing/queues.py ", "waiting for its own queue"},
    Known{"multiprocessing/connection.py ", "waiting for a process of its own"},
    Known{"multiprocessing/pool.py ", "waiting for a process of its own"},
    Known{"concurrent/futures/", "waiting for a task of its own"},
    Known{"asyncio/", "its own event loop"},
    Known{"threading.py ", "waiting for a thread of its own"},
    Known{"subprocess.py ", "waiting for another program"},
    Known{"logging/", "logging"},
    Known{"torch/utils/tensorboard/", "writing to TensorBoard"},
    Known{"tensorboardX/", "writing to TensorBoard"},
    Known{"wandb/", "logging to wandb"},
    Known{"mlflow/", "logging to MLflow"},
    Known{"matplotlib/", "plotting"},
    Known{"tqdm/", "showing progress"},
    Known{"torch/_tensor.py __repr__", "printing a tensor"},
    Known{"torch/_tensor.py __format__", "printing a tensor"},
    Known{"torch/cuda/memory.py empty_cache", "emptying PyTorch's memory cache"},
    Known{"torch/cuda/__init__.py synchronize", "waiting for the GPU"},
    Known{"torch/_dynamo/", "compiling"},
    Known{"torch/_inductor/", "compiling"},
    Known{"requests/", "a network request"},
    Known{"urllib/", "a network request"},
    Known{"json/", "reading or writing JSON"},
};

// Calls as the line writes them; C functions have no frame of their own.
constexpr std::array kCalls = {
    Known{"torch.save(", "saving a checkpoint"},
    Known{"sleep(", "sleeping"},
    Known{".item()", "reading a result"},
    Known{".tolist()", "reading a result"},
    Known{".cpu()", "copying to the CPU"},
    Known{".synchronize()", "waiting for the GPU"},
    Known{"gc.collect(", "collecting garbage"},
    Known{"imread(", "reading and decoding an image"},
    Known{"imdecode(", "decoding an image"},
    Known{".execute(", "a database query"},
    Known{"print(", "printing"},
};

// Functions of the job within which a line lies.
constexpr std::array kFunctions = {
    Known{"evaluate", "evaluation"},
    Known{"validate", "evaluation"},
    Known{"validation", "evaluation"},
    Known{"eval", "evaluation"},
    Known{"eval_epoch", "evaluation"},
    Known{"evaluate_model", "evaluation"},
    Known{"run_validation", "evaluation"},
    Known{"validation_step", "evaluation"},
    Known{"test", "evaluation"},
    Known{"save_checkpoint", "saving a checkpoint"},
    Known{"save_model", "saving a checkpoint"},
};

constexpr std::array<std::string_view, 4> kTraining = {
    "torch/nn/",
    "torch/optim/",
    "torch/autograd/",
    "torch/_tensor.py backward",
};

template <std::size_t N, class Matches>
std::string find(const std::array<Known, N>& table, Matches matches) {
  const auto known = std::find_if(table.begin(), table.end(), matches);
  return known == table.end() ? std::string() : std::string(known->words);
}

}  // namespace

std::string what_runs(const trace::Stack& stack) {
  // A data set that loads each sample by torch.load() loads no checkpoint.
  if (const auto work = fetch_work(stack); work && stack.in_fetch) {
    return std::string(words_of(*work));
  }
  const auto begins = [](const std::string& text) {
    return [&text](const Known& known) { return text.rfind(known.name, 0) == 0; };
  };
  if (std::string words = find(kCallees, begins(stack.callee)); !words.empty()) return words;
  std::string words = find(kCalls, [&stack](const Known& known) {
    return stack.call.find(known.name) != std::string::npos;
  });
  if (!words.empty()) return words;
  words = find(kFunctions, [&stack](const Known& known) {
    return stack.function == known.name ||
           std::find(stack.callers.begin(), stack.callers.end(), known.name) != stack.callers.end();
  });
  if (!words.empty()) return words;
  const auto work = fetch_work(stack);
  return work && makes_data(*work) ? std::string(words_of(*work)) : std::string();
}

bool trains(const trace::Stack& stack) {
  return std::any_of(kTraining.begin(), kTraining.end(),
                     [&stack](std::string_view name) { return stack.callee.rfind(name, 0) == 0; });
}

}  // namespace unstarve::diagnose
