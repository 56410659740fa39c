/* spool_testing.c: see spool_testing.h. */
#include "store/spool/spool_testing.h"

#include <glib/gstdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64], path[80];

tt_spool *spool_open_of(uint64_t limit) {
  tt_spool *spool;
  tt_error error;
  if (tt_spool_open(path, limit, &spool, &error) != TT_OK) fail_msg("%s", error.text);
  return spool;
}

tt_spool *spool_open(void) { return spool_open_of(1 << 20); }

tt_store_batch *spool_batch(int number) {
  tt_store_batch *batch = tt_store_batch_new();
  const tt_store_epoch epoch = {
      .anchor = 1000, .offset_low = 900 - number, .offset_high = 1100 + number, .key = 7};
  char text[20];
  int size = snprintf(text, sizeof text, "text %d", number);
  tt_store_add_name(&batch->devices, 0, "ROBO1", NULL, TT_NAME_KNOWN);
  tt_store_add_name(&batch->attributes, 0, "S.d.n", number == 1 ? "Number" : NULL, TT_NAME_KNOWN);
  tt_store_add_name(&batch->attributes, 1, "S.d.t", NULL, TT_NAME_KNOWN);
  tt_list_add(&batch->epochs, &epoch, 1);
  for (int i = 0; i < 2; i++) {
    const tt_store_sample sample = {.device_time = 2 * number + i,
                                    .time = 1000 + 2 * number + i,
                                    .first = batch->values.len,
                                    .count = 2};
    const tt_store_value values[] = {{0, TT_STORE_NUMBER, number}, {1, batch->text.len, 0}};
    tt_list_add(&batch->text, text, (size_t)size + 1);
    tt_list_add(&batch->samples, &sample, 1);
    tt_list_add(&batch->values, values, 2);
  }
  return batch;
}

void spool_append(tt_spool *spool, int first, int last) {
  for (int n = first; n <= last; n++) {
    tt_error error;
    tt_store_batch *batch = spool_batch(n);
    if (tt_spool_append(spool, batch, &error) != TT_OK) fail_msg("%s", error.text);
    tt_store_batch_free(batch);
  }
}

void spool_count(const tt_store_batch *batch, char *counted) {
  for (uint32_t i = 0; i < batch->samples.len; i++) {
    const tt_store_sample *sample = &tt_list_at(&batch->samples, tt_store_sample, i);
    assert_int_equal(sample->count, 2);
    const tt_store_value *values = &tt_list_at(&batch->values, tt_store_value, sample->first);
    int number = (int)values[0].number;
    char text[20];
    snprintf(text, sizeof text, "text %d", number);
    assert_string_equal((const char *)batch->text.data + values[1].text, text);
    assert_int_equal(sample->device_time / 2, number);
    size_t end = strlen(counted);
    counted[end] = (char)('0' + number);
    counted[end + 1] = '\0';
  }
}

void spool_drain(tt_spool *spool, char *counted) {
  tt_error error;
  tt_status status;
  tt_store_batch *batch = tt_store_batch_new();
  *counted = '\0';
  while ((status = tt_spool_front(spool, batch, &error)) == TT_OK) {
    assert_int_equal(batch->devices.len, 1);
    assert_int_equal(batch->epochs.len, 1);
    spool_count(batch, counted);
    tt_spool_pop(spool);
  }
  assert_int_equal(status, TT_NOT_FOUND);
  assert_int_equal(tt_spool_bytes(spool), 0);
  tt_store_batch_free(batch);
}

void spool_look(tt_spool *spool, char *counted) {
  tt_error error;
  tt_store_batch *batch = tt_store_batch_new();
  uint64_t position = 0, writer;
  *counted = '\0';
  while (tt_spool_look(spool, &position, &writer, batch, &error) == TT_OK)
    spool_count(batch, counted);
  tt_store_batch_free(batch);
}

void spool_assert_holds(tt_spool *spool, const char *expected) {
  char looked[100], drained[100];
  spool_look(spool, looked);
  assert_string_equal(looked, expected);
  spool_drain(spool, drained);
  assert_string_equal(drained, expected);
}

uint64_t spool_file_size(void) {
  struct stat info;
  assert_int_equal(stat(path, &info), 0);
  return (uint64_t)info.st_size;
}

const char *spool_path(void) { return path; }

int spool_begin(void **state) {
  (void)state;
  const char *where = g_access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  snprintf(folder, sizeof folder, "%s/tether-spool-XXXXXX", where);
  if (!mkdtemp(folder)) return 1;
  snprintf(path, sizeof path, "%s/spool", folder);
  return 0;
}

int spool_end(void **state) {
  (void)state;
  g_unlink(path);
  return g_rmdir(folder);
}
