#include "serve/http/http_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>

#include "base/unique_handle.h"

namespace unstarve::serve {
namespace {

using ::testing::HasSubstr;

/// A connection that has asked for `path`. Whoever reads from it waits for half a minute at most.
FileDescriptor asked(int port, const std::string& path) {
  FileDescriptor connection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience = {30, 0};
  ::setsockopt(connection.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(connection.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
  const std::string request =
      "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  EXPECT_GT(::send(connection.get(), request.data(), request.size(), MSG_NOSIGNAL), 0);
  return connection;
}

/// What comes until `end` is in it, or nothing more does.
std::string read_until(const FileDescriptor& connection, const std::string& end) {
  std::string text;
  std::array<char, 1024> part{};
  while (text.find(end) == std::string::npos) {
    const ssize_t got = ::recv(connection.get(), part.data(), part.size(), 0);
    if (got <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  return text;
}

/// A server on a thread of its own, until it is destroyed.
struct RunningServer {
  explicit RunningServer(HttpServer::Handler handler)
      : server(*HttpServer::open({{"127.0.0.1", ""}, 0, "/live"}, std::move(handler))),
        thread([this](const std::stop_token& stop) {
          (void)server->run([&stop] { return stop.stop_requested(); },
                            [this] { return "news " + std::to_string(++told); });
        }) {}
  std::unique_ptr<HttpServer> server;
  int told = 0;
  std::jthread thread;
};

TEST(HttpServer, StreamsGoOnWhileAnAnswerIsMade) {
  std::atomic<bool> goes_on = false;
  const RunningServer running([&goes_on](const Request&) {
    goes_on.wait(false);
    return refuse(200, "at last");
  });
  const FileDescriptor slow = asked(running.server->port(), "/slow");
  const FileDescriptor stream = asked(running.server->port(), "/live");
  EXPECT_THAT(read_until(stream, "news 2"), HasSubstr("data: news 2"));
  goes_on = true;
  goes_on.notify_all();
  EXPECT_THAT(read_until(slow, "at last"), HasSubstr("at last"));
}

TEST(HttpServer, WhoLeavesBeforeTheAnswerHurtsNobody) {
  std::atomic<bool> goes_on = false;
  const RunningServer running([&goes_on](const Request&) {
    goes_on.wait(false);
    return refuse(200, std::string(1 << 20, 'x') + "end");
  });
  for (int i = 0; i < 20; ++i) (void)asked(running.server->port(), "/left");
  const FileDescriptor stays = asked(running.server->port(), "/stays");
  goes_on = true;
  goes_on.notify_all();
  EXPECT_THAT(read_until(stays, "end"), HasSubstr("xend"));
}

TEST(HttpServer, EndsWithRequestsThatWait) {
  std::atomic<bool> goes_on = false;
  FileDescriptor waits;
  {
    const RunningServer running([&goes_on](const Request&) {
      goes_on.wait(false);
      return Reply();
    });
    waits = asked(running.server->port(), "/waits");
    for (int i = 0; i < 5; ++i) (void)asked(running.server->port(), "/left");
    const FileDescriptor stream = asked(running.server->port(), "/live");
    EXPECT_THAT(read_until(stream, "news 1"), HasSubstr("news 1"));
    goes_on = true;
    goes_on.notify_all();
  }
  SUCCEED();
}

}  // namespace
}  // namespace unstarve::serve
