#!/bin/sh
# libcxx.sh INTO: puts LLVM's C++ library, headers and all, into the directory INTO, without installing
# it: its -dev package can't be installed beside libunwind's. Where it can't be had the file
# INTO/missing says why, and that is no failure.
set -u
into=$1
version=14
rm -rf "$into"
mkdir -p "$into"
cd "$into" || exit 1
for name in libc++-$version-dev libc++1-$version libc++abi-$version-dev libc++abi1-$version; do
  if ! apt-get download "$name" >log 2>&1; then
    printf '%s can not be downloaded: %s\n' "$name" "$(tail -n 1 log)" >missing
    exit 0
  fi
done
for package in *.deb; do
  dpkg -x "$package" . || { echo "$package can not be unpacked" >missing; exit 0; }
done
rm -f -- *.deb log
