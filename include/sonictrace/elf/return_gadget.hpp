#pragma once

#include <optional>

#include "sonictrace/base/address.hpp"
#include "sonictrace/elf/image.hpp"

namespace sonictrace::elf {

/// A `ret` in the code of an x86-64 image, to be the return address of a call that looks at where
/// it will return to (dlopen and dlsym find their caller so), while it really returns to the word
/// above on the stack.
///
/// The best are those that an unwinder passes as well, as it takes the byte before for the call's
/// last: there, the function must still have its return address on top of the stack. In this order:
/// a function that is nothing but `endbr64; ret`, or a leaf function that leaves rsp alone, both
/// with an entry in the unwinder's table; `endbr64; ret` in any other place; the end of _init or
/// _fini (`add $8, %rsp; ret`); any other `ret`. Nothing where there is none.
std::optional<ElfAddress> find_return_gadget(const Image& image);

} // namespace sonictrace::elf
