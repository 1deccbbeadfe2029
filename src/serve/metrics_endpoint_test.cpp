#include "serve/metrics_endpoint.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <string>

#include "base/testing/test_folder.h"
#include "base/unique_handle.h"
#include "trace/run_writer.h"

namespace unstarve::serve {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// What the server at this address of ours answers to one request.
std::string answer_of(const std::string& address, const std::string& path) {
  const std::size_t colon = address.rfind(':');
  int port = 0;
  std::from_chars(address.data() + colon + 1, address.data() + address.size(), port);
  const FileDescriptor connection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(connection.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0) {
    return "no connection";
  }
  const std::string request =
      "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  if (::send(connection.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) return "not sent";
  std::string answer;
  std::array<char, 4096> part{};
  ssize_t got = 0;
  while ((got = ::recv(connection.get(), part.data(), part.size(), 0)) > 0) {
    answer.append(part.data(), static_cast<std::size_t>(got));
  }
  return answer;
}

TEST(MetricsEndpoint, OffersTheRunsSeries) {
  const TestFolder folder;
  const std::string run_dir = folder.path() + "/run";
  const auto endpoint = MetricsEndpoint::open({"127.0.0.1", 0}, run_dir);
  ASSERT_TRUE(endpoint) << endpoint.error().message;
  const std::string address = (*endpoint)->address();
  // Before the run has begun there is nothing, and no error.
  EXPECT_THAT(answer_of(address, "/metrics"), StartsWith("HTTP/1.1 200"));
  trace::RunInfo info;
  info.run_id = "mine";
  info.command = {"python", "train.py"};
  info.started_ns = 5;
  auto writer = trace::RunWriter::create(run_dir, info, {});
  ASSERT_TRUE(writer) << writer.error().message;
  ASSERT_TRUE((*writer)->commit());
  EXPECT_THAT(answer_of(address, "/metrics"), HasSubstr("unstarve_run_info{run=\"mine\""));
  EXPECT_THAT(answer_of(address, "/elsewhere"), StartsWith("HTTP/1.1 404"));
}

TEST(MetricsEndpoint, APortThatIsTakenIsAnError) {
  const auto first = MetricsEndpoint::open({"127.0.0.1", 0}, "nowhere");
  ASSERT_TRUE(first);
  const std::string address = (*first)->address();
  const auto parsed = parse_endpoint(address.substr(7, address.rfind('/') - 7));
  ASSERT_TRUE(parsed);
  EXPECT_FALSE(MetricsEndpoint::open(*parsed, "nowhere"));
}

TEST(Endpoint, IsAPortOrAHostAndAPort) {
  for (const char* const text : {"9400", ":9400"}) {
    const auto address = parse_endpoint(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->host, "127.0.0.1");
    EXPECT_EQ(address->port, 9400);
  }
  EXPECT_EQ(parse_endpoint("0.0.0.0:1")->host, "0.0.0.0");
  EXPECT_EQ(parse_endpoint("[::1]:1")->host, "::1");
  for (const char* const text : {"", ":", "a", "1x", "70000", "-1", "host:", "host:x"}) {
    EXPECT_FALSE(parse_endpoint(text)) << text;
  }
}

}  // namespace
}  // namespace unstarve::serve
