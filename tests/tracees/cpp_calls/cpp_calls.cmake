# 150 functions of C++ and who calls them, by each compiler and each standard library that there is:
# libcpp_calls.so and cpp_calls in cpp_calls/NAME, and without debug information in
# cpp_calls/NAME-bare.
set(cpp_calls_from ${here}/cpp_calls)
set(cpp_calls_to ${tracee_dir}/cpp_calls)
set(cpp_calls_sources)
foreach(source shown.h kinds.h shown_kinds.h values.cpp classes.cpp main.cpp build.sh)
  list(APPEND cpp_calls_sources ${cpp_calls_from}/${source})
endforeach()

# NAME, from LIBCXX (the file that says that it is there; `-`: the compiler's own), by a command line.
function(add_cpp_calls name libcxx)
  set(depends ${cpp_calls_sources})
  set(libcxx_directory -)
  if(NOT libcxx STREQUAL -)
    get_filename_component(libcxx_directory ${libcxx} DIRECTORY)
    list(APPEND depends ${libcxx})
  endif()
  set(made ${cpp_calls_to}/${name}.made)
  add_custom_command(OUTPUT ${made}
    COMMAND ${cpp_calls_from}/build.sh ${cpp_calls_from} ${cpp_calls_to}/${name} ${libcxx_directory} ${ARGN}
    COMMAND ${CMAKE_COMMAND} -E touch ${made}
    DEPENDS ${depends} COMMENT "Tracee cpp_calls/${name}" VERBATIM)
  set_property(GLOBAL APPEND PROPERTY tracee_files ${made})
endfunction()

set(old_abi -D_GLIBCXX_USE_CXX11_ABI=0)
if(objcopy AND gxx)
  add_cpp_calls(gcc-O0 - ${gxx} -O0)
  add_cpp_calls(gcc-O2 - ${gxx} -O2)
  add_cpp_calls(gcc-old-O0 - ${gxx} -O0 ${old_abi})
  add_cpp_calls(gcc-old-O2 - ${gxx} -O2 ${old_abi})
endif()
if(objcopy AND described_clangxx)
  add_cpp_calls(clang-O0 - ${described_clangxx} -O0)
  add_cpp_calls(clang-O2 - ${described_clangxx} -O2)
  add_cpp_calls(clang-old-O2 - ${described_clangxx} -O2 ${old_abi})
  set(libcxx ${cpp_calls_to}/libcxx/.there)
  add_custom_command(OUTPUT ${libcxx}
    COMMAND ${cpp_calls_from}/libcxx.sh ${cpp_calls_to}/libcxx
    COMMAND ${CMAKE_COMMAND} -E touch ${libcxx}
    DEPENDS ${cpp_calls_from}/libcxx.sh COMMENT "LLVM's C++ library for tracees" VERBATIM)
  add_cpp_calls(libcxx-O0 ${libcxx} ${described_clangxx} -O0)
  add_cpp_calls(libcxx-O2 ${libcxx} ${described_clangxx} -O2)
endif()
