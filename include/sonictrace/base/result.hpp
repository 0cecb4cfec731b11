#pragma once

#include <cerrno>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

namespace sonictrace {

/// Why an operation on the outside world (kernel, file, tracee, user input) failed.
/// The code is for programs to branch on, the context is for people to read.
class [[nodiscard]] Error {
public:
  Error(std::errc code, std::string context) : code_(code), context_(std::move(context)) {}

  /// Captures `errno`, so call it before anything else can overwrite it.
  static Error from_errno(std::string context) {
    const auto code = static_cast<std::errc>(errno);
    return Error(code, std::move(context));
  }

  /// A failure that the text alone describes (a malformed file, a wrong option).
  static Error saying(std::string text) { return Error(std::errc{}, std::move(text)); }

  bool is(std::errc code) const { return code_ == code; }
  std::errc code() const { return code_; }
  const std::string& context() const { return context_; }

  /// One line without a full stop.
  std::string message() const {
    if (code_ == std::errc{}) return context_;
    return context_ + ": " + std::make_error_code(code_).message();
  }

private:
  std::errc code_;
  std::string context_;
};

/// A value, or the Error that stood in its way. The subset of C++23's
/// std::expected<T, Error> that we use, to be replaced by it one day.
template <class T>
class [[nodiscard]] Result {
public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }
  const Error& error() const& { return std::get<1>(state_); }

private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  explicit operator bool() const { return !error_; }
  Error&& error() && { return std::move(*error_); }
  const Error& error() const& { return *error_; }

private:
  std::optional<Error> error_;
};

} // namespace sonictrace
