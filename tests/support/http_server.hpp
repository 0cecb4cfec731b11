#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sonictrace/base/unique_fd.hpp"

namespace sonictrace::test {

/// Answers so many requests on 127.0.0.1, each with the same, and keeps them.
class HttpServer {
public:
  struct Request {
    std::string head, body;
  };

  explicit HttpServer(std::string answer, int requests = 1)
      : listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listening_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listening_.get(), 8), 0);
    ::getsockname(listening_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, answer = std::move(answer), requests] {
      for (int i = 0; i < requests; ++i)
        serve(answer);
    });
  }
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer() { stop(); }

  std::string url() const { return fmt::format("http://127.0.0.1:{}", port_); }
  /// Ends, and gives what was asked.
  const std::vector<Request>& requests() {
    stop();
    return requests_;
  }

private:
  void serve(const std::string& answer) {
    const UniqueFd connection(::accept(listening_.get(), nullptr, nullptr));
    if (!connection) return; // stopped
    std::string all;
    while (!is_whole(all)) {
      char bytes[4096];
      const ssize_t n = ::read(connection.get(), bytes, sizeof bytes);
      if (n <= 0) return;
      all.append(bytes, static_cast<std::size_t>(n));
    }
    const auto end = all.find("\r\n\r\n");
    requests_.push_back({all.substr(0, end), all.substr(end + 4)});
    EXPECT_EQ(::send(connection.get(), answer.data(), answer.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(answer.size()));
  }
  static bool is_whole(const std::string& text) {
    const auto end = text.find("\r\n\r\n");
    if (end == std::string::npos) return false;
    const auto length = text.find("Content-Length: ");
    return length > end ||
           text.size() - end - 4 >= std::strtoul(text.c_str() + length + 16, nullptr, 10);
  }
  void stop() {
    ::shutdown(listening_.get(), SHUT_RDWR); // wakes accept(), which nobody may come to
    if (thread_.joinable()) thread_.join();
  }

  UniqueFd listening_;
  int port_ = 0;
  std::vector<Request> requests_;
  std::thread thread_;
};

} // namespace sonictrace::test
