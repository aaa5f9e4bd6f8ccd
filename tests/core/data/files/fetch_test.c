/* Where a redirect may lead: what began verified stays so. The rest of data/files/fetch.c is tested by
 * fetch_test.lua. */
#include "data/files/fetch.h"

#include <stdio.h>

static const struct {
  const char *from, *to;
  bool may;
} cases[] = {{"http://a/x", "http://b/y", true},
             {"http://a/x", "https://b/y", true},
             {"https://a/x", "https://b/y", true},
             {"https://a/x", "http://b/y", false},
             {"HTTPS://a/x", "http://a/x", false},
             {"https://a/x", "HTTP://a/x", false},
             {"HTTP://a/x", "HTTPS://a/x", true},
             {"http://a/x", "file:///etc/passwd", false},
             {"https://a/x", "file:///x", false},
             {"http://a/x", "ftp://a/x", false},
             {"http://a/x", "httpsx://a/x", false},
             {"http://a/x", "https:/a", false},
             {"http://a/x", "", false},
             {"file:///x", "http://a/x", false},
             {"https://a/x", "http://https://", false}};

int main(void) {
  int wrong = 0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (scl_fetch_may_follow(cases[i].from, cases[i].to) == cases[i].may) continue;
    (void)fprintf(stderr, "from %s to %s: should be %s\n", cases[i].from, cases[i].to,
                  cases[i].may ? "followed" : "refused");
    wrong++;
  }
  return wrong == 0 ? 0 : 1;
}
