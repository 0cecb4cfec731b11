#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "elf/dynamic.hpp"
#include "elf/export_table.hpp"
#include "elf/function_index.hpp"
#include "elf/headers.hpp"
#include "elf/mapped_file.hpp"
#include "elf/records.hpp"
#include "sonictrace/elf/image.hpp"

namespace sonictrace::elf {

/// A value that is made when it is first asked for, by one of the threads that ask.
template <class T>
class Lazy {
public:
  template <class Make>
  const T& get(Make make) const {
    std::call_once(once_, [&] { value_ = make(); });
    return value_;
  }

private:
  mutable std::once_flag once_;
  mutable T value_;
};

struct Image::Parts {
  Parts(MappedFile mapping, std::span<const std::byte> bytes, std::string file_name,
        Headers file_headers);

  MappedFile mapped; ///< empty where the bytes are the caller's
  std::span<const std::byte> file;
  std::string name;
  Headers headers;
  Records records;
  Machine machine = Machine::Other;
  std::vector<Segment> segments;
  std::vector<Section> sections;
  DynamicInfo dynamic;
  std::string_view build_id;

  Lazy<std::vector<Symbol>> dynamic_symbols;
  Lazy<std::vector<Symbol>> static_symbols;
  /// The bytes of .gnu_debugdata, and the file in them: where there is no .symtab, and it is asked
  /// for.
  std::vector<std::byte> mini_debug_bytes;
  std::shared_ptr<const Image> mini_debug;
  Lazy<ExportTable> exports;
  Lazy<FunctionIndex> functions;

  const FunctionIndex& function_index(const Image& image) const;
  std::vector<Symbol> section_symbols() const; ///< of .symtab
};

} // namespace sonictrace::elf
