/* Fuzz target: any bytes as a page of buckets. What can be read is packed to the same bytes. */
#include "store/sqlite/bucket_page.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!size) return 0;
  const tt_bucket_size of = data[0] & 1 ? TT_BUCKET_HOUR : TT_BUCKET_MINUTE;
  const int64_t pages[] = {0, 1446, -3, INT64_MAX, INT64_MIN};
  const int64_t page = pages[(data[0] >> 1) % 5];
  tt_list buckets = TT_LIST(tt_bucket, NULL), bytes = TT_LIST(char, NULL);
  tt_error error;
  if (tt_bucket_page_unpack(data + 1, size - 1, of, page, &buckets, &error) == TT_OK) {
    tt_status status = tt_bucket_page_pack(&buckets, of, page, &bytes, &error);
    assert(status == TT_OK);
    assert(bytes.len == size - 1 && !memcmp(bytes.data, data + 1, size - 1));
  }
  tt_list_free(&buckets);
  tt_list_free(&bytes);
  return 0;
}
