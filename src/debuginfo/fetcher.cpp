#include "debuginfo/fetcher.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <memory>

#include "sonictrace/base/unique_fd.hpp"

namespace sonictrace::debuginfo {
namespace {

using Clock = std::chrono::steady_clock;

/// elfutils/debuginfod.h, as far as it is used here.
struct Client;
struct Interface {
  Client* (*begin)() = nullptr;
  void (*end)(Client*) = nullptr;
  int (*find)(Client*, const unsigned char*, int, char**) = nullptr;
  void (*set_progress)(Client*, int (*)(Client*, long, long)) = nullptr;
  void (*set_data)(Client*, void*) = nullptr;
  void* (*get_data)(Client*) = nullptr;

  bool is_complete() const {
    return begin != nullptr && end != nullptr && find != nullptr && set_progress != nullptr &&
           set_data != nullptr && get_data != nullptr;
  }
};

template <class Function>
void look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
}

Interface open_library() {
  Interface library;
  // Never closed: the libraries behind it start threads and keep pointers into themselves.
  void* const handle = ::dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return library;
  look_up(handle, "debuginfod_begin", library.begin);
  look_up(handle, "debuginfod_end", library.end);
  look_up(handle, "debuginfod_find_debuginfo", library.find);
  look_up(handle, "debuginfod_set_progressfn", library.set_progress);
  look_up(handle, "debuginfod_set_user_data", library.set_data);
  look_up(handle, "debuginfod_get_user_data", library.get_data);
  return library;
}

const Interface& interface() {
  static const Interface library = open_library();
  return library;
}

/// Not zero: give up.
int watch_time(Client* client, long, long) {
  const auto* const end = static_cast<const Clock::time_point*>(interface().get_data(client));
  return end != nullptr && Clock::now() >= *end ? 1 : 0;
}

} // namespace

bool has_servers() {
  const char* const urls = std::getenv("DEBUGINFOD_URLS");
  return urls != nullptr && *urls != '\0';
}

std::string Fetcher::fetch(const std::string& build_id) {
  if (is_over() || !interface().is_complete()) return {};
  const std::unique_ptr<Client, void (*)(Client*)> client(interface().begin(), interface().end);
  if (!client) return {};
  const auto begin = Clock::now();
  auto end = begin + left_;
  interface().set_data(client.get(), &end);
  interface().set_progress(client.get(), watch_time);
  char* path = nullptr;
  const int file =
      interface().find(client.get(), reinterpret_cast<const unsigned char*>(build_id.data()),
                       static_cast<int>(build_id.size()), &path);
  left_ -= Clock::now() - begin;
  const std::unique_ptr<char, void (*)(void*)> owned(path, std::free);
  if (file < 0) return {};
  const UniqueFd closed(file);
  return path == nullptr ? std::string() : std::string(path);
}

} // namespace sonictrace::debuginfo
