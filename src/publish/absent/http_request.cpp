// In place of ../http_request.cpp where there was no libcurl to build with.
#include "sonictrace/publish/http_request.hpp"

namespace sonictrace::publish {

Result<void> send_http(const HttpRequest& request, std::string_view) {
  return Error::saying(url_to_show(request.url) +
                       ": this program was built without libcurl; install libcurl4-openssl-dev "
                       "and build it again");
}

} // namespace sonictrace::publish
