#include <fmt/format.h>

#include "sonictrace/publish/http_request.hpp"

namespace sonictrace::publish {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_' || c == '~';
}

/// RFC 4648, section 5: of letters that a path may hold.
std::string base64url(std::string_view text) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string encoded;
  unsigned bits = 0, held = 0;
  for (const char c : text) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (held += 8; held >= 6; held -= 6)
      encoded += kLetters[bits >> (held - 6) & 63];
  }
  if (held > 0) encoded += kLetters[bits << (6 - held) & 63];
  encoded.append((4 - encoded.size() % 4) % 4, '=');
  return encoded;
}

/// A label and its value in a path. What a path can't hold (a slash, nothing) goes in base64
/// (pushgateway's README, "URL").
std::string label(std::string_view name, std::string_view value) {
  if (value.empty() || value.find('/') != std::string_view::npos)
    return fmt::format("/{}@base64/{}", name, value.empty() ? "=" : base64url(value));
  std::string path = fmt::format("/{}/", name);
  for (const char c : value)
    path += is_plain(c) ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return path;
}

} // namespace

std::string pushgateway_url(std::string_view url, std::string_view job, std::string_view instance) {
  if (url.find("/metrics/job") != std::string_view::npos) return std::string(url);
  while (url.ends_with('/'))
    url.remove_suffix(1);
  return fmt::format("{}/metrics{}{}", url, label("job", job), label("instance", instance));
}

std::string url_to_show(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == std::string_view::npos) return std::string(url);
  const auto host = scheme + 3;
  const auto end = std::min(url.find_first_of("/?#", host), url.size());
  const auto at = url.substr(0, end).rfind('@');
  if (at == std::string_view::npos || at < host) return std::string(url);
  return fmt::format("{}{}", url.substr(0, host), url.substr(at + 1));
}

} // namespace sonictrace::publish
