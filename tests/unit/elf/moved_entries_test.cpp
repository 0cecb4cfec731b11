// Moves the entries of all functions of a library in this process, and runs them.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <ostream>

#include "sonictrace/arch/moved_entry.hpp"
#include "sonictrace/elf/entries.hpp"
#include "support/compile.hpp"

namespace sonictrace::elf {
namespace {

using test::Compiled;

// Functions whose first instructions are of all kinds; each is run by `run_all`, which says with a
// number what came out.
constexpr const char* kLibrary = R"c(
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default"), noinline))
int global = 7;
static int hidden = 3;
EXPORTED long nothing(void) { return 0; }
EXPORTED long constant(void) { return 42; }
EXPORTED void empty(void) {}
EXPORTED long add(long a, long b) { return a + b; }
EXPORTED int read_global(void) { return global; }
EXPORTED int read_hidden(void) { return hidden; }
EXPORTED int count_up(void) { return ++hidden; }
EXPORTED int compare_hidden(int a) { return hidden == 0x1234567 ? a : a + 1; }
EXPORTED const char* text_of(int a) { return a ? "some" : "none"; }
EXPORTED int early_branch(int a) { if (a < 0) return -1; return a * 3 + global; }
EXPORTED long sum_to(long n) { long s = 0; for (long i = 0; i <= n; ++i) s += i * i; return s; }
EXPORTED long loop_first(long n) { do { n -= 3; } while (n > 0); return n; }
EXPORTED unsigned fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
EXPORTED long factorial(long n) { return n <= 1 ? 1 : n * factorial(n - 1); }
EXPORTED double scale(double x, int n) { return x * n + 0.5; }
EXPORTED long double longer(long double x) { return x / 3; }
EXPORTED float mean(float a, float b) { return (a + b) / 2; }
EXPORTED int many(int a, int b, int c, int d, int e, int f, int g, int h) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}
EXPORTED int variadic(int n, ...) {
  va_list list; va_start(list, n);
  int s = 0; while (n-- > 0) s += va_arg(list, int);
  va_end(list); return s;
}
struct big { long a[6]; };
EXPORTED struct big make_big(long x) { struct big b; for (int i = 0; i < 6; ++i) b.a[i] = x + i; return b; }
EXPORTED long use_big(struct big b) { return b.a[0] + b.a[5]; }
EXPORTED int switched(int a) {
  switch (a) {
    case 0: return 5; case 1: return a + global; case 2: return (int)strlen("abc");
    case 3: return 99; case 4: return a * a; case 5: return -a; case 6: return hidden; default: return 0;
  }
}
EXPORTED int interpret(const char* p) {
  static void* const table[] = {&&add1, &&twice, &&end};
  int x = 1;
  goto *table[*p++ - 'a'];
add1: ++x; goto *table[*p++ - 'a'];
twice: x *= 2; goto *table[*p++ - 'a'];
end: return x;
}
EXPORTED size_t calls_first(const char* s) { return strlen(s) + strlen(s + 1); }
EXPORTED long tail_call(long a) { return add(a, 1); }
EXPORTED long through(long (*f)(long, long), long a) { return f(a, a); }
EXPORTED long through_and_on(long (*f)(long, long), long a) { return f(a, a) + 1; }
EXPORTED void* own_return(void) { return __builtin_return_address(0); }
EXPORTED int is_own_return_right(void) { return (char*)own_return() - (char*)is_own_return_right < 64; }
EXPORTED int large_frame(int a) { volatile char bytes[20000]; memset((void*)bytes, a, sizeof bytes); return bytes[19999]; }
EXPORTED unsigned long hash(const unsigned char* s) { unsigned long h = 5381; while (*s) h = h * 33 + *s++; return h; }
EXPORTED int by_value(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }
EXPORTED int sorted(int a, int b, int c) { int v[3] = {a, b, c}; qsort(v, 3, sizeof *v, by_value); return v[0] * 100 + v[1] * 10 + v[2]; }
EXPORTED int lookup(const int* p, int n, int x) { for (int i = 0; i < n; ++i) if (p[i] == x) return i; return -1; }

__attribute__((visibility("default"))) void run_all(char* out, size_t size) {
  static const int values[] = {4, 8, 15, 16, 23, 42};
  char* const end = out + size;
#define SAY(...) out += snprintf(out, (size_t)(end - out), __VA_ARGS__)
  hidden = 3;
  empty();
  SAY("%ld %ld %ld ", nothing(), constant(), add(3, 4));
  SAY("%d %d %d %d ", read_global(), read_hidden(), count_up(), compare_hidden(4));
  SAY("%s %s ", text_of(0), text_of(1));
  SAY("%d %d ", early_branch(-5), early_branch(5));
  SAY("%ld %ld %u %ld ", sum_to(100), loop_first(100), fibonacci(15), factorial(12));
  SAY("%.3f %.6Lf %.3f ", scale(1.5, 3), longer(2.0L), mean(1, 2));
  SAY("%d %d ", many(1, 2, 3, 4, 5, 6, 7, 8), variadic(3, 10, 20, 30));
  SAY("%ld ", use_big(make_big(100)));
  for (int i = -1; i < 9; ++i) SAY("%d ", switched(i));
  SAY("%d %zu ", interpret("abbac"), calls_first("hello"));
  SAY("%ld %ld %ld ", tail_call(5), through(add, 6), through_and_on(add, 7));
  SAY("%d %d %lu ", is_own_return_right(), large_frame(17), hash((const unsigned char*)" abc "));
    SAY("%d %d %d", sorted(3, 1, 2), lookup(values, 6, 16), lookup(values, 6, 17));
}
)c";

/// A library in this process, its code made writable.
class LoadedLibrary {
public:
  explicit LoadedLibrary(const std::string& path)
      : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    link_map* map = nullptr;
    if (handle_ != nullptr && dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0)
      bias_ = LoadBias::of(map->l_addr);
  }
  LoadedLibrary(const LoadedLibrary&) = delete;
  ~LoadedLibrary() {
    if (handle_ != nullptr) dlclose(handle_);
  }

  explicit operator bool() const { return handle_ != nullptr; }
  LoadBias bias() const { return bias_; }
  std::string run_all() const {
    char text[4096] = "";
    const auto run = reinterpret_cast<void (*)(char*, std::size_t)>(dlsym(handle_, "run_all"));
    if (run != nullptr) run(text, sizeof text);
    return text;
  }
  bool make_writable(const Image& image) const {
    const auto page = static_cast<std::uint64_t>(getpagesize());
    for (const Segment& segment : image.segments()) {
      if (!segment.executable) continue;
      const std::uint64_t begin = bias_.to_tracee(segment.begin).value() / page * page;
      const std::uint64_t end = bias_.to_tracee(segment.begin).value() + segment.memory_size;
      if (mprotect(reinterpret_cast<void*>(begin), end - begin,
                   PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return false;
    }
    return true;
  }

private:
  void* handle_ = nullptr;
  LoadBias bias_;
};

/// Room for code, at most 1 GB or at least 4 GB away from `from`.
class Place {
public:
  static constexpr std::size_t kSize = 256 * 1024;

  Place(TraceeAddress from, bool near) {
    const std::uint64_t step = 0x1000'0000, first = near ? step / 64 : 16 * step;
    for (std::uint64_t distance = first; distance < first + 4 * step; distance += step / 64) {
      void* const wanted = reinterpret_cast<void*>((from.value() - distance) / 4096 * 4096);
      void* const got = mmap(wanted, kSize, PROT_READ | PROT_WRITE | PROT_EXEC,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (got == MAP_FAILED) continue;
      at_ = static_cast<std::byte*>(got);
      return;
    }
  }
  Place(const Place&) = delete;
  ~Place() {
    if (at_ != nullptr) munmap(at_, kSize);
  }

  explicit operator bool() const { return at_ != nullptr; }
  TraceeAddress next() const { return TraceeAddress(reinterpret_cast<std::uint64_t>(at_ + used_)); }
  void put(std::span<const std::byte> code) {
    std::memcpy(at_ + used_, code.data(), code.size());
    used_ += (code.size() + 15) / 16 * 16;
  }

private:
  std::byte* at_ = nullptr;
  std::size_t used_ = 0;
};

/// Puts a jump to `target` over the entry's bytes.
void write_jump(TraceeAddress entry, const MovedEntry& moved, TraceeAddress target) {
  auto* const at = reinterpret_cast<std::byte*>(entry.value()) + moved.skipped;
  const auto distance =
      static_cast<std::int32_t>(target - (entry + moved.skipped + MovedEntry::kJump));
  std::memset(at, 0xcc, moved.replaced);
  at[0] = std::byte{0xe9};
  std::memcpy(at + 1, &distance, sizeof distance);
}

struct Count {
  std::size_t all = 0, moved = 0;
};

/// Moves every function's entry, to code near or far away; a jump always comes from near.
Count move_all(const LoadedLibrary& library, const std::shared_ptr<const Image>& image,
               Place& jumps, Place& code) {
  const EntrySurvey survey(image);
  std::vector<EntryBytes> entries;
  std::vector<MovedEntry> moves;
  Count count;
  ElfAddress last;
  for (const Symbol& function : image->functions()) {
    if (function.value == last) continue;
    last = function.value;
    ++count.all;
    const TraceeAddress at = library.bias().to_tracee(function.value);
    auto moved = move_entry(survey.code(function.value), at, code.next());
    // An operand may be too far away: then its copy has to be near.
    Place& place = moved ? code : jumps;
    if (!moved) moved = move_entry(survey.code(function.value), at, place.next());
    if (!moved) continue;
    entries.push_back({function.value, moved->skipped, moved->replaced});
    moves.push_back(*moved);
    place.put(moved->code);
    // ff 25 00 00 00 00: jmp *0(%rip), as the way from the function to afar
    const TraceeAddress target =
        place.next() + -static_cast<std::int64_t>((moved->code.size() + 15) / 16 * 16);
    std::array<std::byte, 14> way{std::byte{0xff}, std::byte{0x25}};
    const std::uint64_t address = target.value();
    std::memcpy(&way[6], &address, sizeof address);
    moves.back().code.assign(way.begin(), way.end());
  }
  const auto reasons = survey.why_not_replaceable(entries);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (reasons[i]) continue;
    const TraceeAddress way = jumps.next();
    jumps.put(moves[i].code);
    write_jump(library.bias().to_tracee(entries[i].entry), moves[i], way);
    ++count.moved;
  }
  return count;
}

struct Build {
  const char* name;
  const char* command;
};

void PrintTo(const Build& build, std::ostream* out) { *out << build.name; }

class MovedEntriesOf : public testing::TestWithParam<std::tuple<Build, bool>> {};

TEST_P(MovedEntriesOf, a_library_run_as_they_did_in_place) {
  const auto& [build, near] = GetParam();
  const Compiled compiled = test::compile(
      kLibrary, std::string(build.command) + " -fvisibility=hidden -fPIC -shared {src} -o {out}");
  ASSERT_TRUE(compiled.succeeded) << compiled.messages;
  const auto image = Image::open(compiled.path);
  ASSERT_TRUE(image) << image.error().message();
  std::optional<Place> jumps, code; // outlive the library, whose finalizers run when it is closed
  const LoadedLibrary library(compiled.path);
  ASSERT_TRUE(library) << dlerror();
  const std::string expected = library.run_all();
  ASSERT_TRUE(library.make_writable(**image));
  jumps.emplace(library.bias().to_tracee(ElfAddress(0)), true);
  code.emplace(library.bias().to_tracee(ElfAddress(0)), near);
  ASSERT_TRUE(*jumps && *code);

  const Count count = move_all(library, *image, *jumps, *code);

  EXPECT_EQ(library.run_all(), expected);
  EXPECT_GE(count.moved, count.all * 9 / 10) << count.moved << " of " << count.all;
}

INSTANTIATE_TEST_SUITE_P(
    MovedEntries, MovedEntriesOf,
    testing::Combine(
        testing::Values(
            Build{"gcc_O0", "gcc -O0"}, Build{"gcc_O1", "gcc -O1"}, Build{"gcc_O2", "gcc -O2"},
            Build{"gcc_O3", "gcc -O3 -march=x86-64-v3"}, Build{"gcc_Os", "gcc -Os"},
            Build{"gcc_ibt", "gcc -O2 -fcf-protection=full"},
            Build{"gcc_without_plt", "gcc -O2 -fno-plt"},
            Build{"gcc_frame_pointer", "gcc -O1 -fno-omit-frame-pointer"},
            Build{"gcc_stack_check", "gcc -O2 -fstack-protector-all -fstack-clash-protection"},
            Build{"clang_O0", "clang-14 -O0"}, Build{"clang_O2", "clang-14 -O2"},
            Build{"clang_Os", "clang-14 -Oz"}),
        testing::Bool()),
    [](const auto& tested) {
      return std::string(std::get<0>(tested.param).name) +
             (std::get<1>(tested.param) ? "_near" : "_far");
    });

} // namespace
} // namespace sonictrace::elf
