/* message_internal.h: the parser from the inside, shared by message.c (documents in a stream) and message_content.c (the
 * elements of one). One thread. */
#ifndef TT_TELEMETRY_MESSAGE_INTERNAL_H
#define TT_TELEMETRY_MESSAGE_INTERNAL_H

#include "telemetry/message_build.h"

#include <expat.h>

/** Where the stream stands between documents. */
typedef enum tt_scan {
  SCAN_SPACE,         /**< before a document */
  SCAN_LESS,          /**< "<" */
  SCAN_BANG,          /**< "<!" */
  SCAN_BANG_DASH,     /**< "<!-" */
  SCAN_COMMENT,       /**< "<!--" */
  SCAN_COMMENT_DASH,  /**< "<!-- … -" */
  SCAN_COMMENT_CLOSE, /**< "<!-- … --" */
  SCAN_DOCUMENT,      /**< expat has it */
  SCAN_LOST,          /**< after a refusal: looking for the next "<?xml" or "<MESSAGE" */
} tt_scan;

/** Where a document begins in what expat was given: the byte, its line and its column, from 0. */
typedef struct tt_message_place {
  size_t byte;
  unsigned long line, column;
} tt_message_place;

struct tt_message_parser {
  XML_Parser expat;
  uint8_t salt[16]; /**< of expat's hashes: ours, or it would ask the kernel for one a message */
  bool salted;      /**< else it does ask */
  tt_message_handler handler;
  void *context;

  tt_scan scan;
  int64_t begun;  /**< µs monotonic: first byte of the document in hand */
  char found[16]; /**< bytes of a possible document start while SCAN_LOST */
  size_t found_size;

  size_t expat_bytes;      /**< given to it since it began */
  tt_message_place before; /**< what other documents have of them */
  size_t piece;            /**< bytes that it was given last */
  bool may_go_on; /**< the document stands in an element of ours, where others can follow… */
  bool goes_on;   /**< …as one can now: expat has no byte behind it */
  bool hinted;    /**< an end of it was looked for, and there was one */

  size_t token_start;     /**< byte of the document where the unfinished token begins */
  size_t unfinished_work; /**< bytes of it looked at again and again */
  size_t document_bytes;  /**< given to expat before the present chunk */
  int depth;
  bool skip_root; /**< refused before its MESSAGE, which is still to come and not to be taken */
  bool has_doctype, finished, refused;
  char tag[1024];  /**< of a MESSAGE that began inside another… */
  size_t tag_size; /**< …0: none did */
  char reason[256];
  unsigned long line, column;
  size_t end; /**< byte of the document just behind it, or where it was refused */

  char set[256];
  tt_message_build build;
};

/** Refuses the present message at the element or text being parsed. */
void tt_message_refuse(tt_message_parser *parser, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** Sets handlers of expat, which has begun. */
void tt_message_set_handlers(tt_message_parser *parser);
/** Forgets what the last document held. */
void tt_message_begin_content(tt_message_parser *parser);
/** The byte of the document that expat looks at. */
size_t tt_message_position(const tt_message_parser *parser);

#endif
