/* Colours of the edited text. libedit draws text without colours, and only what changed; the text
 * is therefore drawn once more in colours, over the same cells of the terminal. */
#ifndef SCULLERY_PAINT_H
#define SCULLERY_PAINT_H

#include <histedit.h>

/* Begin a new row unless the cursor is at the beginning of one, where the output of a statement
 * ended without a newline: as many spaces as a row has columns, less one, reach the next row from
 * any other column. scl_paint relies on the column. */
void scl_paint_fresh_line(void);
/* Draw the text of the editor in colours, from column `first` of its first row on, and leave the
 * cursor where it was. coloured: the same text with escapes of colour (SGR). Nothing is drawn if
 * the text is wider or taller than the terminal, or has characters without a width, such as
 * tabs. */
void scl_paint(EditLine *editor, const char *coloured, int first);

#endif
