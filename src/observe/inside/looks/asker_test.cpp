#include "observe/inside/looks/asker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace unstarve::looks {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kHour = 3'600'000 * kMs;

/// An object of a Python that has frames, lists, and names: who holds it is counted.
struct Object {
  std::string name;
  int holders = 1;
  Object* back = nullptr;           // of a frame
  std::vector<Object*> items = {};  // of a list
};

/// One Python for the whole test program; each test begins anew.
struct Interpreter {
  std::vector<std::pair<int (*)(void*), void*>> pending;
  std::size_t room_for_pending = 32;
  Object* frame = nullptr;
  Object none{"None"};
  Object main{"main interpreter"};
  std::map<std::string, Object> names;
  int allocations_left = 1'000'000;
  bool has_error = false;
  int lists = 0;
  unsigned long interval_us = 5000;
  bool collects = true;
  int calls_while_collecting = 0;  // for frames, that a collection could have come into
};

Interpreter* interpreter = nullptr;

Object* of(void* object) { return static_cast<Object*>(object); }

bool may_allocate() {
  if (interpreter->allocations_left-- > 0) return true;
  interpreter->has_error = true;
  return false;
}

int add_pending_call(int (*function)(void*), void* argument) {
  if (interpreter->pending.size() >= interpreter->room_for_pending) return -1;
  interpreter->pending.emplace_back(function, argument);
  return 0;
}

void* attribute(void* object, void* name) {
  Object* const frame = of(object);
  if (of(name)->name == "f_back") {
    Object* const back = frame->back != nullptr ? frame->back : &interpreter->none;
    ++back->holders;
    return back;
  }
  if (!may_allocate()) return nullptr;
  return new Object{of(name)->name + " of " + frame->name};
}

void* intern(const char* text) { return &(interpreter->names[text] = Object{text}); }

void* list_new(std::ptrdiff_t) {
  if (!may_allocate()) return nullptr;
  ++interpreter->lists;
  return new Object{"list"};
}

int list_append(void* list, void* item) {
  if (!may_allocate()) return -1;
  of(list)->items.push_back(of(item));
  ++of(item)->holders;
  return 0;
}

void let_go(void* object) {
  Object* const gone = of(object);
  if (--gone->holders > 0) return;
  for (Object* const item : gone->items) let_go(item);
  if (gone->name == "list") --interpreter->lists;
  delete gone;
}

/// sys._current_frames() of a Python with one thread, which has the number "1".
void* call(void*, void*) {
  if (interpreter->collects) ++interpreter->calls_while_collecting;
  if (!may_allocate()) return nullptr;
  Object* const frames = new Object{"frames"};
  if (interpreter->frame != nullptr) {
    frames->items.push_back(interpreter->frame);
    ++interpreter->frame->holders;
  }
  return frames;
}

void* item(void* frames, void* thread) {
  if (of(thread)->name != "1" || of(frames)->items.empty()) {
    interpreter->has_error = true;
    return nullptr;
  }
  ++of(frames)->items[0]->holders;
  return of(frames)->items[0];
}

int disable_collection() { return std::exchange(interpreter->collects, false) ? 1 : 0; }

int enable_collection() { return std::exchange(interpreter->collects, true) ? 1 : 0; }

/// As in Python 3.13 and later.
UnstarvePython python() {
  return {
      .add_pending_call = add_pending_call,
      .add_pending_call_in = nullptr,
      .set_switch_interval = nullptr,
      .switch_interval = nullptr,
      .main_interpreter = []() -> void* { return &interpreter->main; },
      .current_frame = []() -> void* { return interpreter->frame; },
      .attribute = attribute,
      .intern = intern,
      .list_new = list_new,
      .list_append = list_append,
      .hold = [](void* object) { ++of(object)->holders; },
      .let_go = let_go,
      .forget_error = [] { interpreter->has_error = false; },
      .call = call,
      .item = item,
      .disable_collection = disable_collection,
      .enable_collection = enable_collection,
      .none = &interpreter->none,
  };
}

UnstarvePython python_3_12() {
  UnstarvePython functions = python();
  functions.add_pending_call = nullptr;
  functions.add_pending_call_in = [](void* in, int (*function)(void*), void* argument,
                                     int in_main_thread) {
    EXPECT_EQ(in, &interpreter->main);
    EXPECT_EQ(in_main_thread, 0);
    return add_pending_call(function, argument);
  };
  return functions;
}

UnstarvePython python_3_11() {
  UnstarvePython functions = python();
  functions.set_switch_interval = [](unsigned long us) { interpreter->interval_us = us; };
  functions.switch_interval = [] { return interpreter->interval_us; };
  return functions;
}

std::uint64_t here() { return static_cast<std::uint64_t>(::pthread_self()); }

class AskerTest : public testing::Test {
 protected:
  AskerTest() {
    interpreter = &interpreter_;
    inner_.back = &outer_;
    interpreter_.frame = &inner_;
  }

  /// The main thread comes to its next instruction.
  void run_pending() {
    for (const auto& [function, argument] : std::exchange(interpreter_.pending, {})) {
      EXPECT_EQ(function(argument), 0);
    }
  }

  std::vector<std::string> take(Asker& asker) {
    void* const list = asker.take();
    std::vector<std::string> names;
    for (const Object* const item : of(list)->items) names.push_back(item->name);
    let_go(list);
    return names;
  }

  void expect_nothing_held() {
    EXPECT_EQ(inner_.holders, 1);
    EXPECT_EQ(outer_.holders, 1);
    EXPECT_EQ(interpreter_.lists, 0);
    EXPECT_FALSE(interpreter_.has_error);
  }

  Interpreter interpreter_;
  Object outer_{"outer"};
  Object inner_{"inner"};
};

TEST_F(AskerTest, TheMainThreadSaysWhatItDoes) {
  Asker asker(python());
  EXPECT_GT(asker.wait(asker.begin(), kMs, here()), 0);
  run_pending();
  EXPECT_THAT(take(asker), ElementsAre("f_code of inner", "f_lasti of inner", "f_lineno of inner",
                                       "f_globals of inner", "f_code of outer", "f_lasti of outer",
                                       "f_lineno of outer", "f_globals of outer"));
  EXPECT_THAT(take(asker), IsEmpty());
  expect_nothing_held();
}

TEST_F(AskerTest, AnotherThreadIsLookedAtWithoutACollectionInBetween) {
  const Asker asker(python());
  Object known_thread{"1"};
  Object two{"2"};
  void* const list = asker.look_at(nullptr, &known_thread);
  EXPECT_EQ(of(list)->items.size(), 8u);
  let_go(list);
  EXPECT_EQ(asker.look_at(nullptr, &two), &interpreter_.none) << "there is no such thread";
  EXPECT_EQ(interpreter_.calls_while_collecting, 0);
  EXPECT_TRUE(interpreter_.collects) << "as it was";
  interpreter_.collects = false;
  let_go(asker.look_at(nullptr, &known_thread));
  EXPECT_FALSE(interpreter_.collects) << "the job has turned it off";
  expect_nothing_held();
}

TEST_F(AskerTest, WhatCannotBeLookedAtForWantOfMemoryIsNone) {
  const Asker asker(python());
  Object known_thread{"1"};
  for (int allocations = 0; allocations < 18; ++allocations) {
    interpreter_.allocations_left = allocations;
    EXPECT_EQ(asker.look_at(nullptr, &known_thread), &interpreter_.none) << allocations;
    expect_nothing_held();
  }
}

TEST_F(AskerTest, InPython312WhoeverRunsIsAsked) {
  Asker asker(python_3_12());
  EXPECT_GT(asker.wait(asker.begin(), 0, here()), 0);
  run_pending();
  EXPECT_EQ(take(asker).size(), 8u);
}

TEST_F(AskerTest, AnotherThreadThanTheOneThatIsAskedGivesNoAnswer) {
  Asker asker(python_3_12());
  asker.wait(asker.begin(), 0, here());
  std::thread([this] { run_pending(); }).join();
  EXPECT_THAT(take(asker), IsEmpty());
  expect_nothing_held();
}

TEST_F(AskerTest, UpToPython311TheLockIsGivenAwayAtOnceUntilItIsTaken) {
  Asker asker(python_3_11());
  const std::int64_t number = asker.begin();
  EXPECT_GT(asker.wait(number, 0, 0), 0);
  EXPECT_EQ(interpreter_.interval_us, 5000u);
  EXPECT_GT(asker.wait(number, 0, here()), 0);
  EXPECT_EQ(interpreter_.interval_us, 50u);
  EXPECT_THAT(take(asker), IsEmpty());
  EXPECT_EQ(interpreter_.interval_us, 5000u);
  EXPECT_THAT(interpreter_.pending, IsEmpty());
}

TEST_F(AskerTest, AnIntervalThatTheJobSetsMeanwhileStays) {
  Asker asker(python_3_11());
  asker.wait(asker.begin(), 0, here());
  interpreter_.interval_us = 10'000;
  take(asker);
  EXPECT_EQ(interpreter_.interval_us, 10'000u);
}

TEST_F(AskerTest, AnIntervalThatIsShorterStays) {
  interpreter_.interval_us = 20;
  Asker asker(python_3_11());
  asker.wait(asker.begin(), 0, here());
  EXPECT_EQ(interpreter_.interval_us, 20u);
  take(asker);
  EXPECT_EQ(interpreter_.interval_us, 20u);
}

TEST_F(AskerTest, WhoeverStopsTheWaitHasTheIntervalAsItWas) {
  Asker asker(python_3_11());
  const std::int64_t number = asker.begin();
  asker.wait(number, 0, here());
  asker.stop();
  EXPECT_EQ(interpreter_.interval_us, 5000u);
  EXPECT_EQ(asker.wait(number, 0, here()), 0);
  EXPECT_EQ(interpreter_.interval_us, 5000u);
}

TEST_F(AskerTest, AnAnswerThatIsNotWantedAnyMoreIsNotGiven) {
  Asker asker(python());
  asker.wait(asker.begin(), 0, here());
  EXPECT_THAT(take(asker), IsEmpty());
  run_pending();
  EXPECT_THAT(take(asker), IsEmpty());
  expect_nothing_held();
}

TEST_F(AskerTest, WhoeverIsLongBusyIsAskedOnce) {
  Asker asker(python());
  const std::int64_t number = asker.begin();
  for (int i = 0; i < 100; ++i) {
    asker.wait(number, 0, here());
    EXPECT_THAT(take(asker), IsEmpty());
  }
  EXPECT_EQ(interpreter_.pending.size(), 1u);
  asker.wait(number, 0, here());
  run_pending();
  EXPECT_EQ(take(asker).size(), 8u);
  expect_nothing_held();
}

TEST_F(AskerTest, WherePythonTakesNoMoreItIsAskedNextTime) {
  interpreter_.room_for_pending = 0;
  Asker asker(python());
  const std::int64_t number = asker.begin();
  asker.wait(number, 0, here());
  interpreter_.room_for_pending = 32;
  asker.wait(number, 0, here());
  run_pending();
  EXPECT_EQ(take(asker).size(), 8u);
}

TEST_F(AskerTest, WithoutAQuestionNothingIsPending) {
  Asker asker(python());
  EXPECT_GT(asker.wait(asker.begin(), 0, 0), 0);
  EXPECT_THAT(interpreter_.pending, IsEmpty());
}

TEST_F(AskerTest, AtEachAllocationThatFailsThereIsNoAnswerAndNoError) {
  int failed = 0;
  for (int allowed = 0; allowed < 17; ++allowed) {
    Asker asker(python());
    asker.wait(asker.begin(), 0, here());
    interpreter_.allocations_left = allowed;
    run_pending();
    interpreter_.allocations_left = 1'000'000;
    failed += take(asker).empty();
    expect_nothing_held();
  }
  EXPECT_EQ(failed, 17);
}

TEST_F(AskerTest, VeryDeepStacksAreCut) {
  std::vector<Object> frames(1000, Object{"deep"});
  for (std::size_t i = 0; i + 1 < frames.size(); ++i) frames[i].back = &frames[i + 1];
  interpreter_.frame = &frames[0];
  Asker asker(python());
  asker.wait(asker.begin(), 0, here());
  run_pending();
  EXPECT_EQ(take(asker).size(), 4u * kUnstarveLooksDeepest);
  for (const Object& frame : frames) EXPECT_EQ(frame.holders, 1);
}

TEST_F(AskerTest, AThreadWithoutFramesGivesNoAnswer) {
  interpreter_.frame = nullptr;
  Asker asker(python());
  asker.wait(asker.begin(), 0, here());
  run_pending();
  EXPECT_THAT(take(asker), IsEmpty());
  expect_nothing_held();
}

TEST_F(AskerTest, AStopEndsTheWaitAndLaterOnesOfItsNumber) {
  Asker asker(python());
  const std::int64_t number = asker.begin();
  std::thread stopper([&asker] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    asker.stop();
  });
  EXPECT_EQ(asker.wait(number, kHour, here()), 0);
  stopper.join();
  EXPECT_EQ(asker.wait(number, kHour, here()), 0);
  EXPECT_GT(asker.wait(asker.begin(), 0, here()), 0);
}

TEST(AskerStress, QuestionsAnswersAndStopsFromDifferentThreads) {
  Interpreter own;
  interpreter = &own;
  Asker asker(python());
  for (int round = 0; round < 200; ++round) {
    const std::int64_t number = asker.begin();
    std::thread waiter([&asker, number] { EXPECT_EQ(asker.wait(number, kHour, 0), 0); });
    asker.stop();
    waiter.join();
  }
}

}  // namespace
}  // namespace unstarve::looks
