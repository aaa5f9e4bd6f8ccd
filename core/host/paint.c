#define _GNU_SOURCE
#include "host/paint.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

/* Where the cursor stands, from the first cell of the text's first row on, and the last row. */
typedef struct layout {
  int row, column, last;
} layout;

/* The layout of the edited text; false if it does not fit into the terminal, so that libedit breaks
 * or scrolls it. */
static bool lay_out(const LineInfoW *line, int first, layout *found) {
  struct winsize size;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return false;
  int row = 0, column = first;
  for (const wchar_t *at = line->buffer;; at++) {
    if (at == line->cursor) *found = (layout){.row = row, .column = column};
    if (at == line->lastchar) break;
    const int width = *at == L'\n' ? 0 : wcwidth(*at);
    if (width < 0) return false;
    column = *at == L'\n' ? 0 : column + width;
    row += *at == L'\n';
    if (column >= size.ws_col || row >= size.ws_row) return false;
  }
  found->last = row;
  return true;
}

/* Move the cursor: rows up (negative) or down, and to a column. */
static void move(int rows, int column) {
  if (rows != 0) (void)printf("\033[%d%c", rows < 0 ? -rows : rows, rows < 0 ? 'A' : 'B');
  (void)putchar('\r');
  if (column > 0) (void)printf("\033[%dC", column);
}

void scl_paint_fresh_line(void) {
  struct winsize size;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2) return;
  (void)printf("%*s\r\033[K", size.ws_col - 1, "");
}

void scl_paint(EditLine *editor, const char *coloured, int first) {
  const LineInfoW *line = el_wline(editor);
  layout at = {0};
  if (line->lastchar == line->buffer || !lay_out(line, first, &at)) return;
  move(-at.row, first);
  for (const char *c = coloured; *c != 0; c++) {
    if (*c == '\n')
      move(1, 0);
    else
      (void)putchar(*c);
  }
  move(at.row - at.last, at.column);
  (void)fflush(stdout);
}
