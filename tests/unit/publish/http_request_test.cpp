#include "sonictrace/publish/http_request.hpp"

#include <gtest/gtest.h>

#include "support/http_server.hpp"

namespace sonictrace::publish {
namespace {

using namespace std::chrono_literals;
using test::HttpServer;

HttpRequest put_to(const std::string& url) { return {"PUT", url, "text/plain", 10s}; }

TEST(HttpRequest, sends_method_path_type_and_body) {
  HttpServer server("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");

  ASSERT_TRUE(send_http(put_to(server.url() + "/metrics/job/a"), "x 1\n"));

  const auto& requests = server.requests();
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_TRUE(requests[0].head.starts_with("PUT /metrics/job/a HTTP/1.1\r\n")) << requests[0].head;
  EXPECT_NE(requests[0].head.find("\r\nContent-Type: text/plain\r\n"), std::string::npos);
  EXPECT_EQ(requests[0].body, "x 1\n");
}

TEST(HttpRequest, tells_the_first_line_of_an_answer_that_is_no_success) {
  HttpServer server("HTTP/1.1 400 Bad Request\r\nContent-Length: 12\r\n\r\nbad\tx\nmore\n\n");

  const auto sent = send_http(put_to(server.url()), "");

  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().message(), server.url() + ": answered 400: bad?x");
}

TEST(HttpRequest, says_that_nobody_is_there) {
  const auto sent = send_http(put_to("http://someone:secret@127.0.0.1:1/x"), "");

  ASSERT_FALSE(sent);
  EXPECT_TRUE(sent.error().message().starts_with("http://127.0.0.1:1/x: "))
      << sent.error().message();
  EXPECT_NE(sent.error().message().find("connect"), std::string::npos) << sent.error().message();
}

TEST(HttpRequest, gives_up_at_its_limit) {
  // Takes connections into its backlog, and never answers.
  HttpServer server("", 0);
  auto request = put_to(server.url());
  request.limit = 200ms;
  const auto begin = std::chrono::steady_clock::now();

  const auto sent = send_http(request, "x");

  ASSERT_FALSE(sent);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  EXPECT_NE(sent.error().message().find("timed out"), std::string::npos) << sent.error().message();
}

TEST(HttpRequest, sends_nothing_but_http) { EXPECT_FALSE(send_http(put_to("file:///tmp/x"), "x")); }

TEST(PushgatewayUrl, ends_in_the_job_and_the_instance) {
  for (const auto& [job, instance, path] :
       std::vector<std::tuple<const char*, const char*, const char*>>{
           {"sonictrace", "cam1", "/job/sonictrace/instance/cam1"},
           {"a b", "c%", "/job/a%20b/instance/c%25"},
           {"a/b", "", "/job@base64/YS9i/instance@base64/="},
           {"a/bc", "x", "/job@base64/YS9iYw==/instance/x"}})
    EXPECT_EQ(pushgateway_url("http://p:9091/", job, instance),
              std::string("http://p:9091/metrics") + path);
  EXPECT_EQ(pushgateway_url("http://p:9091/metrics/job/a/run/b", "c", "d"),
            "http://p:9091/metrics/job/a/run/b");
}

TEST(UrlToShow, has_no_password) {
  EXPECT_EQ(url_to_show("https://a:b@c@h:1/p@q"), "https://h:1/p@q");
  EXPECT_EQ(url_to_show("http://h/p"), "http://h/p");
  EXPECT_EQ(url_to_show("h"), "h");
}

} // namespace
} // namespace sonictrace::publish
