/* link.c: see its header. libsoup does HTTP and TLS. */
#include "store/clickhouse/link.h"

#include <libsoup/soup.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Of a query, which may have long lists; and what a batch is not cut into. An answer begins once all of it is known. */
#define SETTINGS                                                                                   \
  "default_format=RowBinary&wait_end_of_query=1&max_query_size=67108864&max_ast_elements=10000000" \
  "&max_expanded_ast_elements=10000000&max_insert_block_size=16777216"                             \
  "&min_insert_block_size_rows=0&min_insert_block_size_bytes=0"
#define LONGEST_TROUBLE 400
#define READ_SIZE 16384

struct tt_clickhouse_link {
  const tt_clickhouse_address *address;
  const tt_clickhouse_shard *shard;
  SoupSession *session;
  GCancellable *cancellable; /**< of the request under way */
  atomic_uint asked;         /**< requests that began or ended: odd while one is under way */
  unsigned seen;             /**< of these, at the last tt_clickhouse_link_cut() */
  unsigned patience;
  bool database; /**< it is there */
  bool reached;  /**< it has answered by HTTP */
  bool late;     /**< it has not answered in time */
  int code;
};

static tt_status open_session(tt_clickhouse_link *link, tt_error *error) {
  link->session = soup_session_new_with_options("timeout", link->patience, "idle-timeout", 0,
                                                "proxy-resolver", NULL, NULL);
  soup_session_remove_feature_by_type(link->session, SOUP_TYPE_CONTENT_DECODER);
  if (!link->address->ca) return TT_OK;
  GError *trouble = NULL;
  GTlsDatabase *trusted = g_tls_file_database_new(link->address->ca, &trouble);
  if (!trusted) {
    tt_status status = tt_fail(error, TT_INVALID, "clickhouse: ca=%s: %s", link->address->ca,
                               trouble ? trouble->message : "can't be read");
    g_clear_error(&trouble);
    return status;
  }
  soup_session_set_tls_database(link->session, trusted);
  g_object_unref(trusted);
  return TT_OK;
}

tt_status tt_clickhouse_link_new(const tt_clickhouse_address *address, int shard, unsigned patience,
                                 tt_clickhouse_link **out, tt_error *error) {
  tt_clickhouse_link *link = calloc(1, sizeof *link);
  if (!link) return tt_fail(error, TT_NOMEM, "out of memory");
  link->address = address;
  link->shard = &address->shards[shard];
  link->patience = patience;
  link->cancellable = g_cancellable_new();
  tt_status status = open_session(link, error);
  if (status != TT_OK) {
    tt_clickhouse_link_free(link);
    return status;
  }
  *out = link;
  return TT_OK;
}

void tt_clickhouse_link_free(tt_clickhouse_link *link) {
  if (!link) return;
  if (link->session) {
    soup_session_abort(link->session);
    g_object_unref(link->session);
  }
  g_object_unref(link->cancellable);
  free(link);
}

void tt_clickhouse_link_wait(tt_clickhouse_link *link, unsigned patience) {
  if (link->patience == patience) return;
  link->patience = patience;
  soup_session_abort(link->session);
  g_object_set(link->session, "timeout", patience, NULL);
}

void tt_clickhouse_link_cut(tt_clickhouse_link *link) {
  const unsigned asked = atomic_load(&link->asked);
  if (asked % 2 && asked == link->seen) g_cancellable_cancel(link->cancellable);
  link->seen = asked;
}

void tt_clickhouse_link_use(tt_clickhouse_link *link, bool database) { link->database = database; }

/* --- requests --- */

static SoupMessage *new_message(const tt_clickhouse_link *link, const char *sql,
                                const tt_list *data) {
  const tt_clickhouse_address *address = link->address;
  char *query = data ? g_uri_escape_string(sql, NULL, FALSE) : NULL;
  char *url = g_strdup_printf("%s://%s:%d/?" SETTINGS "&database=%s%s%s",
                              address->tls ? "https" : "http", link->shard->host, link->shard->port,
                              link->database ? address->database : "system", query ? "&query=" : "",
                              query ? query : "");
  SoupMessage *message = soup_message_new("POST", url);
  g_free(query);
  g_free(url);
  if (!message) return NULL;
  soup_message_add_flags(message, SOUP_MESSAGE_NO_REDIRECT);
  SoupMessageHeaders *headers = soup_message_get_request_headers(message);
  if (*address->user) soup_message_headers_replace(headers, "X-ClickHouse-User", address->user);
  if (*address->password)
    soup_message_headers_replace(headers, "X-ClickHouse-Key", address->password);
  GBytes *body = data ? g_bytes_new_static(data->data, data->len) : g_bytes_new(sql, strlen(sql));
  soup_message_set_request_body_from_bytes(message, "application/octet-stream", body);
  g_bytes_unref(body);
  return message;
}

/** Says what became of a connection. */
static tt_status fail(const tt_clickhouse_link *link, const GError *trouble, const char *remedy,
                      tt_error *error) {
  char late[40];
  snprintf(late, sizeof late, "no answer within %u s", link->patience);
  return tt_fail(error, TT_FAILED, "clickhouse %s:%d: %s%s", link->shard->host, link->shard->port,
                 !trouble ? "the answer ends too early"
                 : g_error_matches(trouble, G_IO_ERROR, G_IO_ERROR_TIMED_OUT) ? late
                                                                              : trouble->message,
                 remedy);
}

/** Reads to the end, or to the limit. */
static tt_status read_all(GInputStream *stream, GCancellable *cancellable, size_t limit,
                          tt_list *answer, GError **trouble, tt_error *error) {
  char piece[READ_SIZE];
  gssize size;
  while ((size = g_input_stream_read(stream, piece, sizeof piece, cancellable, trouble)) > 0) {
    if ((size_t)size > limit - answer->len)
      return tt_fail(error, TT_FULL, "clickhouse: an answer is longer than %zu bytes", limit);
    if (!tt_list_add(answer, piece, (size_t)size)) return tt_fail(error, TT_NOMEM, "out of memory");
  }
  return size ? TT_FAILED : TT_OK;
}

/** What to do about an error of the server's; "": it says so itself. */
static const char *remedy_of(int code) {
  static const struct {
    int code;
    const char *remedy;
  } remedies[] = {
      {192, "give a user it knows: clickhouse://USER:PASSWORD@HOST"},
      {193, "give the right password: clickhouse://USER:PASSWORD@HOST"},
      {194, "give the right password: clickhouse://USER:PASSWORD@HOST"},
      {195, "let this machine's address in, in <networks> of the user"},
      {516, "give the right user and password: clickhouse://USER:PASSWORD@HOST"},
      {164, "let the user write: <readonly> 0 in its profile"},
      {291, "let the user into the database, in <allow_databases>"},
      {497,
       "grant the user what is missing: CREATE, ALTER, INSERT, SELECT and DROP of its database, "
       "and REMOTE"},
  };
  for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++)
    if (remedies[i].code == code) return remedies[i].remedy;
  return "";
}

bool tt_clickhouse_is_refused(const tt_clickhouse_link *link) { return *remedy_of(link->code); }

bool tt_clickhouse_was_late(const tt_clickhouse_link *link) { return link->late; }

/** Nobody is told a password; a server may repeat what it was asked. */
static void hide(char *text, const char *secret) {
  const size_t size = strlen(secret);
  if (!size) return;
  for (char *found = strstr(text, secret); found; found = strstr(found, secret))
    memset(found, '*', size);
}

/** What to do where a connection fails by which nothing has been heard yet. */
static const char *way_out(const tt_clickhouse_link *link, const GError *trouble) {
  if (g_error_matches(trouble, G_TLS_ERROR, G_TLS_ERROR_BAD_CERTIFICATE))
    return "; its certificate is for another host, out of date, or not signed by one of ca=FILE";
  if (link->reached || trouble->domain == G_RESOLVER_ERROR ||
      g_error_matches(trouble, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED))
    return "";
  if (!link->address->tls) return "; does it want TLS on this port? Then add ?tls=yes";
  return "; does it speak TLS on this port? Give the port of its HTTPS, or leave tls=yes away";
}

/** The server says what is wrong: "Code: 60, e.displayText() = DB::Exception: …". */
static tt_status explain(tt_clickhouse_link *link, guint http_status, const tt_list *said,
                         tt_error *error) {
  char text[LONGEST_TROUBLE + 1];
  const size_t size = said->len < LONGEST_TROUBLE ? said->len : LONGEST_TROUBLE;
  if (size) memcpy(text, said->data, size);
  text[size] = 0;
  for (char *c = text; *c; c++)
    if ((unsigned char)*c < ' ') *c = ' ';
  const char *code = strstr(text, "Code: ");
  link->code = code ? (int)strtol(code + 6, NULL, 10) : 0;
  const char *message = strstr(text, "DB::Exception: ");
  char *more = strstr(text, ", e.what()");
  if (more) *more = 0;
  hide(text, link->address->password);
  const char *remedy = remedy_of(link->code);
  return tt_fail(error, TT_FAILED, "clickhouse %s:%d: %.200s (HTTP %u, code %d)%s%s",
                 link->shard->host, link->shard->port, message ? message + 15 : text, http_status,
                 link->code, *remedy ? "; " : "", remedy);
}

static tt_status take_answer(tt_clickhouse_link *link, SoupMessage *message, GInputStream *stream,
                             tt_list *answer, tt_error *error) {
  tt_list own = TT_LIST(char, NULL), *into = answer ? answer : &own;
  GError *trouble = NULL;
  const guint http_status = soup_message_get_status(message);
  tt_status status =
      read_all(stream, link->cancellable, TT_CLICKHOUSE_ANSWER, into, &trouble, error);
  if (status == TT_FAILED) fail(link, trouble, "", error);
  g_clear_error(&trouble);
  if (status == TT_OK && http_status != SOUP_STATUS_OK)
    status = explain(link, http_status, into, error);
  tt_list_free(&own);
  if (status == TT_FULL) soup_session_abort(link->session);
  return status;
}

/** `*idle`: nothing came of a connection, which may have ended before it was used again. */
static tt_status ask_once(tt_clickhouse_link *link, const char *sql, const tt_list *data,
                          tt_list *answer, bool *idle, tt_error *error) {
  SoupMessage *message = new_message(link, sql, data);
  if (!message) return tt_fail(error, TT_INVALID, "clickhouse: '%s' is no host", link->shard->host);
  GError *trouble = NULL;
  GInputStream *stream = soup_session_send(link->session, message, link->cancellable, &trouble);
  tt_status status;
  link->late = g_error_matches(trouble, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);
  *idle = !stream && !link->late && !g_error_matches(trouble, G_IO_ERROR, G_IO_ERROR_CANCELLED) &&
          !g_error_matches(trouble, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED);
  if (stream) {
    link->reached = true;
    status = take_answer(link, message, stream, answer, error);
    g_input_stream_close(stream, NULL, NULL);
    g_object_unref(stream);
  } else {
    status = fail(link, trouble, way_out(link, trouble), error);
  }
  g_clear_error(&trouble);
  g_object_unref(message);
  return status;
}

tt_status tt_clickhouse_ask(tt_clickhouse_link *link, const char *sql, const tt_list *data,
                            tt_list *answer, tt_error *error) {
  bool idle;
  link->code = 0;
  if (answer) tt_list_cut(answer, 0);
  atomic_fetch_add(&link->asked, 1);
  tt_status status = ask_once(link, sql, data, answer, &idle, error);
  if (status != TT_OK && idle) {
    if (answer) tt_list_cut(answer, 0);
    status = ask_once(link, sql, data, answer, &idle, error);
  }
  atomic_fetch_add(&link->asked, 1);
  return status;
}
