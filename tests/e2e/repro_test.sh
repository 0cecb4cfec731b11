#!/bin/sh
# Runs a reproducer: DIRECTORY LOG TRACER [OPTION...]
directory=$1 log=$2
shift 2
TRACER="$*" "$directory/run" "$log" || exit
exec "$directory/expect" "$log"
