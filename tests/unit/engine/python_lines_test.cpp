#include "engine/python_lines.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sonictrace {
namespace {

using wire::PythonLines;

struct Case {
  const char* name;
  PythonLines kind;
  std::vector<int> table; ///< bytes
  std::uint32_t first_line;
  std::vector<std::pair<std::int64_t, std::uint32_t>> lines; ///< by offset
};

void PrintTo(const Case& tested, std::ostream* out) { *out << tested.name; }

class PythonLine : public testing::TestWithParam<Case> {};

TEST_P(PythonLine, is_that_of_the_table) {
  std::vector<std::byte> table;
  for (const int byte : GetParam().table)
    table.push_back(static_cast<std::byte>(byte));
  for (const auto& [offset, line] : GetParam().lines)
    EXPECT_EQ(python_line(GetParam().kind, table, GetParam().first_line, offset), line)
        << "at " << offset;
}

constexpr int kLong = 14, kNone = 15, kNoColumns = 13;
/// The first byte of a location entry, for so many code units.
constexpr int entry(int kind, int units) { return 0x80 | kind << 3 | (units - 1); }

INSTANTIATE_TEST_SUITE_P(
    Python, PythonLine,
    testing::Values(
        Case{"before_the_first_instruction_the_first_line",
             PythonLines::Locations,
             {},
             7,
             {{-2, 7}}},
        Case{"none_where_the_table_is_empty", PythonLines::Locations, {}, 7, {{0, 0}}},
        Case{"none_behind_the_end",
             PythonLines::Locations,
             {entry(kNoColumns, 2), 0},
             7,
             {{0, 7}, {2, 7}, {4, 0}}},
        // Objects/lnotab_notes.txt: its own example, with lines 1, 2, 7, 361 and 362 (as below)
        Case{"of_increments",
             PythonLines::Increments,
             {0, 1, 6, 1, 44, 5, 0, 127, 0, 127, 0, 100, 50, 1},
             0,
             {{0, 1}, {5, 1}, {6, 2}, {49, 2}, {50, 361}, {99, 361}, {100, 362}, {5000, 362}}},
        Case{"of_increments_that_go_back",
             PythonLines::Increments,
             {4, 10, 4, 0xfb},
             100,
             {{0, 100}, {4, 110}, {8, 105}}},
        Case{"of_increments_of_more_code_than_fits_one",
             PythonLines::Increments,
             {255, 0, 45, 1},
             1,
             {{299, 1}, {300, 2}}},
        Case{"of_increments_cut_short", PythonLines::Increments, {4}, 3, {{8, 3}}},
        // PEP 626's example of co_linetable
        Case{"of_ranges",
             PythonLines::Ranges,
             {4, 0, 4, 1, 254, 0x80, 2, 1},
             10,
             {{0, 10}, {3, 10}, {4, 11}, {8, 0}, {262, 12}, {264, 0}}},
        Case{"of_ranges_that_go_back", PythonLines::Ranges, {2, 5, 2, 0xfd}, 1, {{0, 6}, {2, 3}}},
        Case{"of_an_empty_range", PythonLines::Ranges, {0, 5, 2, 1}, 1, {{0, 7}}},
        Case{"of_short_forms",
             PythonLines::Locations,
             {entry(0, 1), 0x11, entry(9, 8), 0x22, entry(3, 1), 0x33},
             5,
             {{0, 5}, {2, 5}, {17, 5}, {18, 5}, {20, 0}}},
        Case{"of_one_line_forms",
             PythonLines::Locations,
             {entry(10, 1), 1, 2, entry(11, 1), 1, 2, entry(12, 1), 1, 2},
             5,
             {{0, 5}, {2, 6}, {4, 8}}},
        Case{"of_the_form_without_columns",
             PythonLines::Locations,
             {entry(kNoColumns, 1), 3 /* -1 */, entry(kNoColumns, 3), 4 /* +2 */},
             5,
             {{0, 4}, {2, 6}, {6, 6}}},
        Case{"of_the_long_form",
             PythonLines::Locations,
             // +100 = 200: 0x48, 3; then the end line, columns 1 and 70 (6 bits each)
             {entry(kLong, 2), 0x40 | 8, 3, 0, 2, 0x40 | 7, 1, entry(10, 1), 0, 0},
             1,
             {{0, 101}, {3, 101}, {4, 101}}},
        Case{"none_of_an_instruction_without_one",
             PythonLines::Locations,
             {entry(kNone, 1), entry(11, 1), 0, 0},
             1,
             {{0, 0}, {2, 2}}},
        Case{"none_of_a_damaged_table", PythonLines::Locations, {0x11, 0x22}, 1, {{0, 0}}},
        Case{"none_of_a_number_that_does_not_end",
             PythonLines::Locations,
             {entry(kLong, 1), 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f},
             1,
             {{0, 0}}},
        Case{"none_before_line_one",
             PythonLines::Locations,
             {entry(kNoColumns, 1), 21 /* -10 */},
             5,
             {{0, 0}}},
        Case{"none_by_a_kind_that_is_not_known", static_cast<PythonLines>(9), {1, 2}, 1, {{0, 0}}}),
    [](const auto& tested) { return std::string(tested.param.name); });

} // namespace
} // namespace sonictrace
