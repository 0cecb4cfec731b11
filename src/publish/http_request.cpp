#include "sonictrace/publish/http_request.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <array>
#include <memory>

namespace sonictrace::publish {
namespace {

constexpr std::size_t kAnswer = 4096; ///< bytes of it that are kept

std::size_t keep(char* data, std::size_t, std::size_t size, void* answer) {
  auto& kept = *static_cast<std::string*>(answer);
  kept.append(data, std::min(size, kAnswer - kept.size()));
  return size;
}

std::string first_line(std::string_view text) {
  std::string line(text.substr(0, text.find_first_of("\r\n")));
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return line;
}

} // namespace

Result<void> send_http(const HttpRequest& request, std::string_view body) {
  const auto failed = [&request](std::string_view why) {
    return Error::saying(fmt::format("{}: {}", url_to_show(request.url), why));
  };
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(),
                                                                 &curl_easy_cleanup);
  if (curl == nullptr) return failed("libcurl does not start");
  const std::string type = "Content-Type: " + request.content_type;
  const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(
      curl_slist_append(curl_slist_append(nullptr, type.c_str()), "Expect:"), &curl_slist_free_all);
  std::string answer;
  std::array<char, CURL_ERROR_SIZE> why{};
  CURLcode code = CURLE_OK;
  const auto set = [&code, handle = curl.get()](CURLoption option, auto value) {
    if (code == CURLE_OK) code = curl_easy_setopt(handle, option, value);
  };
  set(CURLOPT_ERRORBUFFER, why.data());
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https"); // not file: and others
  set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
  set(CURLOPT_HTTPHEADER, headers.get());
  set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  set(CURLOPT_POSTFIELDS, body.data());
  set(CURLOPT_WRITEFUNCTION, &keep);
  set(CURLOPT_WRITEDATA, static_cast<void*>(&answer));
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(request.limit.count()));
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_OPTIONAL));
  set(CURLOPT_USERAGENT, "sonicreport");
  if (code == CURLE_OK) code = curl_easy_perform(curl.get());
  if (code != CURLE_OK) return failed(why[0] != '\0' ? why.data() : curl_easy_strerror(code));
  long status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status < 200 || status >= 300)
    return failed(
        fmt::format("answered {}{}{}", status, answer.empty() ? "" : ": ", first_line(answer)));
  return {};
}

} // namespace sonictrace::publish
