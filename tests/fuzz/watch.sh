#!/bin/sh
# watch.sh FILE SECONDS COMMAND...: run the command. When FILE, which says what it is at, stays the
# same for so many seconds, it is interrupted, which the file `interrupted` tells it; and killed
# where it goes on all the same.
file=$1 limit=$(($2 * 2)) last='' same=0
shift 2
"$@" &
pid=$!
while kill -0 $pid 2>/dev/null; do
  sleep 0.5
  now=$(cat "$file" 2>/dev/null)
  if [ "$now" = "$last" ]; then same=$((same + 1)); else same=0 last=$now; fi
  if [ $same -eq $limit ]; then
    touch interrupted
    kill -INT $pid 2>/dev/null
  fi
  [ $same -lt $((limit + 10)) ] || kill -KILL $pid 2>/dev/null
done
wait $pid
