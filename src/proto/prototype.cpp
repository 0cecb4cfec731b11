#include "sonictrace/proto/prototype.hpp"

namespace sonictrace::proto {

std::shared_ptr<const Prototype> Prototype::unknown() {
  // What ltrace assumes: four words, each shown as a long with a guess at its base.
  static const auto guess = std::make_shared<const Prototype>(
      Prototype{"", Parameter{}, std::vector<Parameter>(4), true});
  return guess;
}

} // namespace sonictrace::proto
