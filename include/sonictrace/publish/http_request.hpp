#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "sonictrace/base/result.hpp"

namespace sonictrace::publish {

struct HttpRequest {
  std::string method; ///< PUT, POST
  std::string url;    ///< http:// or https://; a user and password may stand in it, or in ~/.netrc
  std::string content_type;
  std::chrono::milliseconds limit{30'000}; ///< for all of it
};

/// Sends `body`. Fails where no answer comes, and where it is not one of success (2xx): with the
/// first line of the answer.
Result<void> send_http(const HttpRequest& request, std::string_view body);

/// Where metrics of a job are put in a Pushgateway: URL/metrics/job/JOB/instance/INSTANCE. A URL
/// that has such a path already stays as it is.
std::string pushgateway_url(std::string_view url, std::string_view job, std::string_view instance);

/// Without the password, for messages.
std::string url_to_show(std::string_view url);

} // namespace sonictrace::publish
