/* section.h: the section `web` of a scene or of `tether collect`. */
#ifndef TT_WEB_SECTION_H
#define TT_WEB_SECTION_H

#include "model/schema.h"
#include "web/server.h"

/** The section `web`. */
typedef struct tt_web_keys {
  char *listen; /**< "127.0.0.1:8080"; NULL: that, or the next free port */
  /** asked of everybody; that or `tokens` is needed where `listen` is no loopback address */
  char *token;
  char *tokens;   /**< file of tokens with roles: web/tokens.h */
  char **hosts;   /**< further names of this machine, as they stand in a browser's address line */
  char **proxies; /**< whose X-Forwarded-For counts: addresses or CIDR blocks */
  unsigned host_count, proxy_count, max_connections;
} tt_web_keys;

/** Its keys, as docs/scene.md has them. Static. */
extern const cyaml_schema_field_t tt_web_fields[];
extern const tt_schema tt_web_schema;

/** A server as the section describes it; it does not listen yet. `keys` must outlive it. */
tt_status tt_web_from_keys(const tt_web_keys *keys, tt_web **web, tt_error *error);

#endif
