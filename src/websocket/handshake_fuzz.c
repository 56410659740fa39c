/* handshake_fuzz.c: any bytes as a head, from a client and from a server: what is accepted can be answered. */
#include "websocket/handshake.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
  if (!holds) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const offered[] = {"chat", "superchat"};
  size_t head = tt_handshake_head(data, size);
  tt_handshake asked;
  tt_handshake_url url;
  tt_error why;
  char text[4096], copy[1024];
  int status, chosen = -1;
  if (head == 0) { /* a URL perhaps */
    size_t length = size < sizeof copy ? size : sizeof copy - 1;
    memcpy(copy, data, length);
    copy[length] = '\0';
    if (tt_handshake_url_read(copy, &url, &why) == TT_OK) check(url.path[0] == '/');
    return 0;
  }
  if (tt_handshake_read((const char *)data, head, &asked, &status, &why) == TT_OK) {
    tt_handshake_answer answer = {.status = asked.upgrade ? 101 : 404};
    check(tt_handshake_answer_write(&asked, &answer, text, sizeof text) > 0);
  } else {
    check(status >= 400 && status < 500);
    tt_handshake_answer answer = {.status = status, .body = why.text};
    check(tt_handshake_answer_write(&asked, &answer, text, sizeof text) > 0);
  }
  if (tt_handshake_answer_read((const char *)data, head, "dGhlIHNhbXBsZSBub25jZQ==", offered, 2,
                               &chosen, &why) == TT_OK)
    check(chosen >= -1 && chosen < 2);
  return 0;
}
