// What the compiler may want of a C library. Most of what is copied here are a few words, for which
// the string instructions take longer to begin than the copying does.

#include "agent/machine.hpp"

namespace sonictrace::agent {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t), kFewWords = 16 * kWord;

template <class Piece>
inline void copy_piece(unsigned char* to, const unsigned char* from) {
  Piece piece;
  __builtin_memcpy(&piece, from, sizeof piece);
  __builtin_memcpy(to, &piece, sizeof piece);
}

/// sizeof(Piece) to twice as many bytes: the pieces may overlap.
template <class Piece>
inline void copy_two(unsigned char* to, const unsigned char* from, std::size_t size) {
  Piece first, last;
  __builtin_memcpy(&first, from, sizeof first);
  __builtin_memcpy(&last, from + size - sizeof last, sizeof last);
  __builtin_memcpy(to, &first, sizeof first);
  __builtin_memcpy(to + size - sizeof last, &last, sizeof last);
}

} // namespace

extern "C" AGENT_HIDDEN void* memset(void* to, int value, std::size_t size) {
  auto* at = static_cast<unsigned char*>(to);
  asm volatile("rep stosb" : "+D"(at), "+c"(size) : "a"(value) : "memory");
  return to;
}

extern "C" AGENT_HIDDEN void* memcpy(void* to, const void* from, std::size_t size) {
  auto* at = static_cast<unsigned char*>(to);
  auto* source = static_cast<const unsigned char*>(from);
  if (size > kFewWords) {
    asm volatile("rep movsb" : "+D"(at), "+S"(source), "+c"(size) : : "memory");
  } else if (size >= kWord) {
    const std::size_t last = size - kWord;
    for (std::size_t done = 0; done < last; done += kWord)
      copy_piece<std::uint64_t>(at + done, source + done);
    copy_piece<std::uint64_t>(at + last, source + last);
  } else if (size >= sizeof(std::uint32_t)) {
    copy_two<std::uint32_t>(at, source, size);
  } else if (size >= sizeof(std::uint16_t)) {
    copy_two<std::uint16_t>(at, source, size);
  } else if (size != 0) {
    *at = *source;
  }
  return to;
}

} // namespace sonictrace::agent
