// Nothing but a place to compile the headers for, see tests/CMakeLists.txt.
