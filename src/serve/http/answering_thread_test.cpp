#include "serve/http/answering_thread.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <map>
#include <stdexcept>
#include <string>

namespace unstarve::serve {
namespace {

Request asking(const std::string& path) {
  Request request;
  request.path = path;
  return request;
}

/// Every answer to `count` questions, by number.
std::map<std::uint64_t, Reply> answers_of(AnsweringThread& answering, std::size_t count) {
  std::map<std::uint64_t, Reply> answers;
  while (answers.size() < count) {
    pollfd ready = {answering.ready_fd(), POLLIN, 0};
    if (::poll(&ready, 1, -1) < 0) break;
    for (auto& [number, reply] : answering.take()) answers.emplace(number, std::move(reply));
  }
  return answers;
}

TEST(AnsweringThreadStress, EachQuestionGetsItsAnswerOnce) {
  std::atomic<int> inside = 0;
  const auto answering = AnsweringThread::start([&inside](const Request& request) {
    EXPECT_EQ(++inside, 1) << "one after the other";
    Reply reply;
    reply.body = request.path + "!";
    --inside;
    return reply;
  });
  ASSERT_TRUE(answering);
  constexpr std::uint64_t kQuestions = 500;
  for (std::uint64_t i = 1; i <= kQuestions; ++i) {
    ASSERT_TRUE((*answering)->ask(i, asking(std::to_string(i))));
  }
  const auto answers = answers_of(**answering, kQuestions);
  ASSERT_EQ(answers.size(), kQuestions);
  for (const auto& [number, reply] : answers) EXPECT_EQ(reply.body, std::to_string(number) + "!");
}

TEST(AnsweringThread, AFailureIsAnAnswer) {
  const auto answering = AnsweringThread::start([](const Request& request) -> Reply {
    if (request.path == "/bad") throw std::runtime_error("why");
    return {};
  });
  ASSERT_TRUE(answering);
  ASSERT_TRUE((*answering)->ask(1, asking("/bad")));
  ASSERT_TRUE((*answering)->ask(2, asking("/good")));
  auto answers = answers_of(**answering, 2);
  EXPECT_EQ(answers[1].status, 500);
  EXPECT_NE(answers[1].body.find("why"), std::string::npos);
  EXPECT_EQ(answers[2].status, 200);
}

TEST(AnsweringThreadStress, EndsWhileQuestionsWait) {
  for (int round = 0; round < 20; ++round) {
    auto answering = AnsweringThread::start([](const Request&) { return Reply(); });
    ASSERT_TRUE(answering);
    bool was_full = false;
    for (std::uint64_t i = 0; i < 5000 && !was_full; ++i) was_full = !(*answering)->ask(i, {});
    answering->reset();
  }
}

TEST(AnsweringThread, MoreThanSoManyDoNotWait) {
  std::atomic<bool> goes_on = false;
  const auto answering = AnsweringThread::start([&goes_on](const Request&) {
    goes_on.wait(false);
    return Reply();
  });
  ASSERT_TRUE(answering);
  std::uint64_t taken = 0;
  while ((*answering)->ask(taken + 1, {})) ++taken;
  EXPECT_LT(taken, 1000U);
  goes_on = true;
  goes_on.notify_all();
  EXPECT_EQ(answers_of(**answering, taken).size(), taken);
}

}  // namespace
}  // namespace unstarve::serve
