/* The encoder of the texts that a pipeline with sc.text takes, from the field `text` of the model in
 * its description. */
#include "model/restore.h"

#include <string.h>

/* The list of the terms of a vocabulary. The caller releases *terms. */
static scl_status read_terms(const cJSON *list, scl_texts *terms, scl_error *error) {
  scl_texts_builder builder = {0};
  scl_status status = SCL_STATUS_OK;
  for (const cJSON *item = list->child; status == SCL_STATUS_OK && item != NULL;
       item = item->next) {
    if (!cJSON_IsString(item))
      status = scl_fail(error, SCL_STATUS_BAD_DATA, "its vocabulary is not a list of terms");
    else
      status = scl_texts_add(&builder, item->valuestring, strlen(item->valuestring), error);
    if (status == SCL_STATUS_OK) status = scl_texts_end(&builder, error);
  }
  if (status == SCL_STATUS_OK) return scl_texts_finish(&builder, terms, error);
  scl_texts_builder_release(&builder);
  return status;
}

static scl_status read_vocabulary(const cJSON *said, scl_text_encoder *out, scl_error *error) {
  const cJSON *list;
  scl_texts terms;
  SCL_TRY(scl_saved_table(said, "vocabulary", &list, error));
  SCL_TRY(read_terms(list, &terms, error));
  const scl_status status = scl_vocabulary_create(&terms, &out->vocabulary, error);
  scl_texts_release(&terms);
  out->named = status == SCL_STATUS_OK;
  return status;
}

/* Fill an encoder of zeros. */
static scl_status read_encoder(const scl_saved *saved, const cJSON *said, scl_text_encoder *out,
                               scl_error *error) {
  size_t bits;
  SCL_TRY(scl_saved_flag(said, "characters", &out->form.characters, error));
  SCL_TRY(scl_saved_flag(said, "single", &out->form.single, error));
  SCL_TRY(scl_saved_flag(said, "exact", &out->form.exact, error));
  SCL_TRY(scl_saved_flag(said, "binary", &out->binary, error));
  SCL_TRY(scl_saved_whole(saved, said, "least", 1, SCL_TEXT_RUN_MOST, &out->form.least, error));
  SCL_TRY(scl_saved_whole(saved, said, "most", out->form.least, SCL_TEXT_RUN_MOST, &out->form.most,
                          error));
  if (scl_saved_find(said, "vocabulary") != NULL) return read_vocabulary(said, out, error);
  SCL_TRY(scl_saved_whole(saved, said, "bits", 1, SCL_TEXT_BITS_MOST, &bits, error));
  out->bits = (unsigned)bits;
  return SCL_STATUS_OK;
}

scl_status scl_saved_text_encoder(const scl_saved *saved, const cJSON *model, size_t dim,
                                  scl_text_encoder **out, scl_error *error) {
  const cJSON *said;
  *out = NULL;
  SCL_TRY(scl_saved_table(model, "text", &said, error));
  scl_text_encoder *encoder = scl_allocate_zero(sizeof *encoder);
  if (encoder == NULL) return scl_fail_memory(error, sizeof *encoder, "a text encoder");
  scl_status status = read_encoder(saved, said, encoder, error);
  if (status == SCL_STATUS_OK && scl_text_encoder_cols(encoder) != dim)
    status =
        scl_fail(error, SCL_STATUS_BAD_DATA, "the columns of its texts: %zu, where %zu belongs",
                 scl_text_encoder_cols(encoder), dim);
  if (status == SCL_STATUS_OK)
    *out = encoder;
  else
    scl_text_encoder_destroy(encoder);
  return status;
}
