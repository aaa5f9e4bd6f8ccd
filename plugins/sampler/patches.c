/* Patches of images: Gaussian weights on a random rectangle N of s pixels, 0 elsewhere, for rows
 * that are images of H x W pixels, row by row (Coates, Ng and Lee 2011, An analysis of single-layer
 * networks in unsupervised feature learning; McDonnell et al. 2015, random receptive fields):
 *
 *   w_N ~ N(0, sigma^2/s I),   z = <w_N, x_N> + b
 *
 * Sides of N are uniform on low .. high, each by itself, and its place is uniform where it fits.
 * With delta = x - y, Fourier features estimate
 *   k(x, y) = mean over N of exp(-sigma^2 ||delta_N||^2/(2 s)).
 *
 * `shift` = m > 0: scalar k of a nonlinearity of fan_in q is that of the patch moved by m times
 * offset k, without what falls off the image. Offsets are those of the integers nearest to 0 in the
 * plane: q = 5, 9 and 25 are a cross and squares. Maxout features are then the largest response
 * near a place, which moves little with the image. */
#include "shared/draws.h"

typedef struct patches {
  scl_base base;
  double sigma;
  const scl_value *image, *side;
  size_t shift;
} patches;

static const scl_option options[] = {
    SCL_NUMBER(patches, sigma, "1",
               "root mean square length of a row: E ||w||^2 = sigma^2 whatever the sides",
               SCL_POSITIVE),
    SCL_ROW(patches, image, SCL_FORM_LIST, NULL, NULL,
            "{height, width} of the images in pixels; default: a square", SCL_WITHIN(1, 65536)),
    SCL_ROW(patches, side, SCL_FORM_INTEGER | SCL_FORM_LIST, NULL, NULL,
            "sides of a patch in pixels: a number or {low, high}; default: a quarter to a half of "
            "the image's smaller side",
            SCL_WITHIN(1, 65536)),
    SCL_INTEGER(patches, shift, "0",
                "for a nonlinearity with fan_in q: 0 draws q independent patches; m draws one "
                "patch and moves it by multiples of m pixels",
                SCL_WITHIN(0, 65536)),
    SCL_OPTION_BIAS};

/* ------------ images and patches */

typedef struct frame {
  size_t height, width, low, high; /* of the image; sides of patches */
} frame;

/* Whether a list is two whole numbers. */
static bool whole(const scl_value *list) {
  for (size_t i = 0; i < list->length; i++)
    if (list->list[i] != floor(list->list[i])) return false;
  return list->length == 2;
}

/* Checks image and side, as far as that needs no data. */
static scl_status patches_create(void *instance, scl_error *error) {
  const patches *self = instance;
  const scl_host *host = self->base.host;
  if (self->image->form == SCL_FORM_LIST && !whole(self->image))
    return host->fail(error, SCL_STATUS_BAD_OPTION,
                      "option 'image' takes two whole numbers, {height, width}");
  if (self->side->form == SCL_FORM_LIST &&
      !(whole(self->side) && self->side->list[0] <= self->side->list[1]))
    return host->fail(error, SCL_STATUS_BAD_OPTION,
                      "option 'side' takes a whole number, or two, {low, high} with low <= high");
  return SCL_STATUS_OK;
}

/* The sizes of image and patches for data of `dim` columns; fails where they do not fit. */
static scl_status find_frame(const patches *self, size_t dim, frame *out, scl_error *error) {
  const scl_host *host = self->base.host;
  const double *image = self->image->list, *side = self->side->list;
  if (self->image->form == SCL_FORM_LIST) {
    *out = (frame){.height = (size_t)image[0], .width = (size_t)image[1]};
  } else {
    const size_t root = (size_t)round(sqrt((double)dim));
    *out = (frame){.height = root, .width = root};
  }
  if (dim == 0 || dim > INT32_MAX || out->height * out->width != dim)
    return host->fail(error, SCL_STATUS_BAD_SHAPE,
                      "the data have %zu columns, and images of %zu x %zu pixels have %zu: give "
                      "image = {height, width}",
                      dim, out->height, out->width, out->height * out->width);
  const size_t least = out->height < out->width ? out->height : out->width;
  const bool list = self->side->form == SCL_FORM_LIST, one = self->side->form == SCL_FORM_INTEGER;
  out->low = list ? (size_t)side[0] : one ? (size_t)self->side->number : (least + 3) / 4;
  out->high = list ? (size_t)side[1] : one ? out->low : (least + 1) / 2;
  if (out->high <= least) return SCL_STATUS_OK;
  return host->fail(error, SCL_STATUS_BAD_SHAPE,
                    "option 'side' asks for patches of %zu pixels, and images have %zu x %zu",
                    out->high, out->height, out->width);
}

typedef struct patch {
  size_t height, width, top, left;
} patch;

enum { STREAM_WEIGHTS = 0, STREAM_PATCHES = 2 };

/* Sides and place of patch `index`, from four random numbers. */
static patch draw_patch(const patches *self, const frame *f, scl_address address, uint64_t index) {
  const uint32_t sides = (uint32_t)(f->high - f->low + 1);
  uint64_t bits[4];
  self->base.host->random->bits(address.seed, address.stream + STREAM_PATCHES, index, 0, 4, bits);
  const size_t height = f->low + (size_t)draw_below(bits[0], sides),
               width = f->low + (size_t)draw_below(bits[1], sides);
  return (patch){.height = height,
                 .width = width,
                 .top = (size_t)draw_below(bits[2], (uint32_t)(f->height - height + 1)),
                 .left = (size_t)draw_below(bits[3], (uint32_t)(f->width - width + 1))};
}

typedef struct offset {
  ptrdiff_t down, right;
} offset;

/* Points of the integer plane, ordered by their distance from 0, then row by row. */
static offset offset_at(size_t k) {
  for (ptrdiff_t square = 0;; square++) {
    const ptrdiff_t reach = (ptrdiff_t)sqrt((double)square);
    for (ptrdiff_t down = -reach; down <= reach; down++)
      for (ptrdiff_t right = -reach; right <= reach; right++)
        if (down * down + right * right == square && k-- == 0) return (offset){down, right};
  }
}

/* ------------ drawing */

static scl_status patches_layout(const void *instance, size_t dim, scl_layout *out,
                                 scl_error *error) {
  frame f;
  const scl_status status = find_frame(instance, dim, &f, error);
  if (status != SCL_STATUS_OK) return status;
  out->reals = out->integers = f.high * f.high;
  return SCL_STATUS_OK;
}

/* Writes the moved patch; w: its N(0, 1) numbers. Pixels that remain in the image come first;
 * the slots of the others hold 0 and column -1. */
static void place_patch(const frame *f, patch p, offset move, double scale, double *w,
                        int32_t *columns, size_t slots) {
  size_t used = 0;
  for (size_t i = 0; i < p.height * p.width; i++) {
    const ptrdiff_t row = (ptrdiff_t)(p.top + i / p.width) + move.down,
                    column = (ptrdiff_t)(p.left + i % p.width) + move.right;
    if (row < 0 || row >= (ptrdiff_t)f->height || column < 0 || column >= (ptrdiff_t)f->width)
      continue;
    w[used] = scale * w[i];
    columns[used++] = (int32_t)(row * (ptrdiff_t)f->width + column);
  }
  for (; used < slots; used++) {
    w[used] = 0;
    columns[used] = -1;
  }
}

/* Draws plane `draw->plane`: with shift = m it is the patch of plane 0 moved by m times the
 * plane's offset. */
static scl_status patches_draw_rows(const void *instance, const scl_draw *draw,
                                    const scl_parameters *out, scl_error *error) {
  const patches *self = instance;
  scl_address address = draw->address;
  offset move = {0, 0};
  frame f;
  const scl_status status = find_frame(self, out->dim, &f, error);
  if (status != SCL_STATUS_OK) return status;
  if (self->shift > 0) { /* all planes have the patches of the first */
    address.stream -= (uint64_t)draw->plane << 32;
    move = offset_at(draw->plane);
    move.down *= (ptrdiff_t)self->shift;
    move.right *= (ptrdiff_t)self->shift;
  }
  for (size_t i = 0; i < out->count; i++) {
    const uint64_t index = out->first + i;
    const patch p = draw_patch(self, &f, address, index);
    const size_t pixels = p.height * p.width;
    double *w = out->weights + (ptrdiff_t)i * out->stride;
    self->base.host->random->normal(address.seed, address.stream + STREAM_WEIGHTS, index, 0, pixels,
                                    w);
    place_patch(&f, p, move, self->sigma / sqrt((double)pixels), w,
                out->support + (ptrdiff_t)i * out->support_stride, out->integers);
  }
  return SCL_STATUS_OK;
}

/* ------------ the characteristic function */

/* sums (H + 1) x (W + 1): entry (i, j) is the sum of the squares of delta in rows below i and
 * columns below j. */
static void sum_squares(const frame *f, const double *delta, double *sums) {
  const size_t across = f->width + 1;
  memset(sums, 0, across * sizeof *sums);
  for (size_t i = 0; i < f->height; i++) {
    double row = 0;
    sums[(i + 1) * across] = 0;
    for (size_t j = 0; j < f->width; j++) {
      row += delta[i * f->width + j] * delta[i * f->width + j];
      sums[(i + 1) * across + j + 1] = sums[i * across + j + 1] + row;
    }
  }
}

/* The mean of exp(-rate ||delta_N||^2) over all positions of a patch of these sides. The sum over a
 * rectangle is four entries of `sums`, at least 0 whatever rounding says. */
static double mean_over_places(const patches *self, const frame *f, size_t height, size_t width,
                               const double *sums) {
  const size_t across = f->width + 1, down = f->height - height + 1, right = f->width - width + 1;
  const double rate = self->sigma * self->sigma / (2 * (double)(height * width));
  double mean = 0;
  for (size_t i = 0; i < down; i++)
    for (size_t j = 0; j < right; j++) {
      const double *top = sums + i * across + j, *bottom = top + height * across;
      mean += exp(-rate * fmax(bottom[width] - bottom[0] - top[width] + top[0], 0));
    }
  return mean / (double)(down * right);
}

/* The mean over all sides and places of exp(-sigma^2 ||delta_N||^2/(2 s)), with the sums of
 * squares over rectangles from a table of cumulative sums. */
static scl_status patches_characteristic(const void *instance, const scl_draw *draw, size_t rows,
                                         const double *delta, ptrdiff_t stride, double *out,
                                         scl_error *error) {
  const patches *self = instance;
  const scl_host *host = self->base.host;
  frame f;
  const scl_status status = find_frame(self, draw->dim, &f, error);
  if (status != SCL_STATUS_OK) return status;
  const double sides = (double)(f.high - f.low + 1);
  double *sums = host->scratch((f.height + 1) * (f.width + 1) * sizeof *sums);
  if (sums == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for an image of %zu pixels",
                      draw->dim);
  for (size_t r = 0; r < rows; r++) {
    sum_squares(&f, delta + (ptrdiff_t)r * stride, sums);
    out[r] = 0;
    for (size_t height = f.low; height <= f.high; height++)
      for (size_t width = f.low; width <= f.high; width++)
        out[r] += mean_over_places(self, &f, height, width, sums) / (sides * sides);
  }
  return SCL_STATUS_OK;
}

const scl_plugin scullery_plugin = {
    .name = "patches",
    .summary = "Rows of images: Gaussian weights on a random rectangle of pixels",
    .definition =
        /* Sides of the image and of patches. */
    "H(d) = image and image[1]//1 | 0 or floor(sqrt(d) + 0.5)\n"
    "B(d) = image and image[2]//1 | 0 or H(d)\n"
    "least_side(d) = min(H(d), B(d))\n"
    "low(d) = type(side) == \"table\" and side[1] or side or (least_side(d) + 3)//4\n"
    "high(d) = type(side) == \"table\" and side[2] or side or (least_side(d) + 1)//2\n"
    /* Plane k of a shift is the patch of plane 0, moved. */
    "move(k) = unpack(({ { 0, 0 }, { -1, 0 }, { 0, -1 }, { 0, 1 }, { 1, 0 } })[k + 1])\n"
    "place(t, r, s, H, B, low, n) = (function(h, w, columns, numbers)\n"
    "  local top, left = r.below(s, t, 2, H - h + 1), r.below(s, t, 3, B - w + 1)\n"
    /* Pixels that leave the image are left out. */
    "  local down, right = move(r.plane)\n"
    "  for i = 0, h*w - 1 do\n"
    "    local row, column = top + i//w + down*shift, left + i % w + right*shift\n"
    "    if row >= 0 and row < H and column >= 0 and column < B then\n"
    "      columns[#columns + 1] = row*B + column\n"
    "      numbers[#numbers + 1] = sigma/sqrt(h*w)*r.normal(s - 2, t, i)\n"
    "    end\n"
    "  end\n"
    "  for i = #columns + 1, (low + n - 1)^2 do columns[i], numbers[i] = -1, 0 end\n"
    "  return join(columns, numbers) end)(low + r.below(s, t, 0, n), low + r.below(s, t, 1, n), "
    "{}, {})\n"
    "draw(t, r) = place(t, r, 2 - (shift > 0 and r.plane << 32 or 0), H(r.dim), B(r.dim),\n"
    "  low(r.dim), high(r.dim) - low(r.dim) + 1)\n"
    "cells(h, w, f) = sum(h, function(i) return sum(w, function(j) return f(i, j) end) end)\n"
    /* The squared length of x on a patch at (i, j). */
    "over(x, B, h, w, i, j) = cells(h, w, function(p, q) return x[(i + p - 2)*B + j + q - 1]^2 "
    "end)\n"
    "mean_of(x, H, B, h, w) = cells(H - h + 1, B - w + 1, function(i, j)\n"
    "  return exp(-sigma^2*over(x, B, h, w, i, j)/(2*h*w)) end)/((H - h + 1)*(B - w + 1))\n"
    /* The mean over all sides and places. */
    "of_sides(x, H, B, low, n) = cells(n, n, function(h, w)\n"
    "  return mean_of(x, H, B, low + h - 1, low + w - 1) end)/n^2\n"
    "characteristic(x) = of_sides(x, H(#x), B(#x), low(#x), high(#x) - low(#x) + 1)",
    .doc =
        "For rows that are images, pixel row by pixel row: w_t is N(0, sigma^2/s) on the s pixels\n"
        "of a random rectangle N, and 0 elsewhere; z = <w_N, x_N> + b. Features of nearby pixels\n"
        "suit images better than features of all (McDonnell et al. 2015). With\n"
        "nonlinearity.fourier they estimate\n"
        "  mean over N of exp(-sigma^2 ||x_N - y_N||^2/(2 s)).\n"
        "With shift = m and nonlinearity.maxout{ q = 9 } a feature is the largest response of one\n"
        "patch among its places moved by -m, 0, m pixels, down and across: it changes little when\n"
        "the image moves. q = 5 is a cross, q = 25 a square of five; other q take the nearest\n"
        "places.",
    SCL_SAMPLER(.space = SCL_SPACE_SPARSE, .draw = patches_draw_rows, .layout = patches_layout),
    SCL_INSTANCE(patches, options),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_CHARACTERISTIC, scl_ability_characteristic,
                            .characteristic = patches_characteristic)),
    .create = patches_create};
