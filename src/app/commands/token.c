/* token.c: `tether token`: who may ask the pages what, in a file that web.tokens names. */
#include "app/commands/command.h"
#include "app/descriptors.h"
#include "app/options.h"
#include "app/state_folder.h"
#include "base/text.h"
#include "web/tokens.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

typedef struct token_job {
  char path[4096];
  const char *name; /**< NULL: none was given */
  tt_role role;     /**< TT_ROLE_NONE: none was given */
  bool replace;
  GArray *tokens; /**< tt_token: what stands in the file */
} token_job;

static tt_status refuse_name(const token_job *job, tt_error *error) {
  return tt_fail(error, TT_NOT_FOUND, "%s: there is no token '%s'; tether token list shows all",
                 job->path, job->name);
}

static tt_status make(token_job *job, tt_error *error) {
  char *secret;
  tt_token token;
  int index = tt_token_named(job->tokens, job->name);
  if (index >= 0 && !job->replace)
    return tt_fail(error, TT_INVALID,
                   "%s: there is a token '%s'; --replace makes another one in its place", job->path,
                   job->name);
  if (index >= 0 && job->role == TT_ROLE_NONE)
    job->role = g_array_index(job->tokens, tt_token, index).role;
  if (job->role == TT_ROLE_NONE)
    return tt_fail(error, TT_USAGE, "token new takes --role watch, drive or administer");
  TT_TRY(tt_token_make(job->name, job->role, &token, &secret, error));
  if (index >= 0)
    g_array_index(job->tokens, tt_token, index) = token;
  else
    g_array_append_val(job->tokens, token);
  tt_print(stdout, "%s\n", secret);
  tt_status status = tt_flush_output(error); /* one that nobody saw is not kept */
  if (status == TT_OK) status = tt_tokens_write(job->path, job->tokens, error);
  if (status == TT_OK)
    tt_print(stderr, "This is shown once. The pages know it by web.tokens: %s\n", job->path);
  explicit_bzero(secret, strlen(secret));
  g_free(secret);
  return status;
}

static tt_status list(token_job *job, tt_error *error) {
  (void)error;
  for (guint i = 0; i < job->tokens->len; i++) {
    const tt_token *token = &g_array_index(job->tokens, tt_token, i);
    tt_print(stdout, "%-24s %s\n", token->name, tt_role_names[token->role]);
  }
  return TT_OK;
}

static tt_status remove_token(token_job *job, tt_error *error) {
  int index = tt_token_named(job->tokens, job->name);
  if (index < 0) return refuse_name(job, error);
  g_array_remove_index(job->tokens, (guint)index);
  return tt_tokens_write(job->path, job->tokens, error);
}

static const struct {
  const char *name;
  bool takes_name, changes;
  tt_status (*run)(token_job *job, tt_error *error);
} actions[] = {
    {"new", true, true, make}, {"list", false, false, list}, {"remove", true, true, remove_token}};

/* Two that change a file one after the other. −1: there is nothing to wait for. */
static int lock_folder(const char *path) {
  char *folder = g_path_get_dirname(path);
  int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_free(folder);
  if (descriptor >= 0) flock(descriptor, LOCK_EX);
  return descriptor;
}

static tt_status act(token_job *job, size_t action, tt_error *error) {
  int lock = actions[action].changes ? lock_folder(job->path) : -1;
  job->tokens = g_array_new(FALSE, TRUE, sizeof(tt_token));
  tt_status status =
      access(job->path, F_OK) == 0 ? tt_tokens_read(job->path, job->tokens, error) : TT_OK;
  if (status == TT_OK) status = actions[action].run(job, error);
  g_array_unref(job->tokens);
  if (lock >= 0) close(lock);
  return status;
}

static tt_status read_role(const char *text, tt_role *role, tt_error *error) {
  for (int i = TT_ROLE_WATCH; tt_role_names[i]; i++) {
    if (strcmp(text, tt_role_names[i]) != 0) continue;
    *role = (tt_role)i;
    return TT_OK;
  }
  return tt_fail(error, TT_USAGE, "--role %s: give watch, drive or administer", text);
}

static tt_status read_options(int argc, char **argv, token_job *job, const char **file,
                              tt_error *error) {
  static const struct option options[] = {{"role", required_argument, NULL, 'r'},
                                          {"file", required_argument, NULL, 'f'},
                                          {"replace", no_argument, NULL, 'p'},
                                          {NULL, 0, NULL, 0}};
  optind = 1;
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, ":", options, NULL)) != -1;) {
    if (option == 'r')
      TT_TRY(read_role(optarg, &job->role, error));
    else if (option == 'f')
      *file = optarg;
    else if (option == 'p')
      job->replace = true;
    else
      return tt_option_refused(option, options, argv[optind - 1], error);
  }
  return TT_OK;
}

static tt_status place_file(token_job *job, const char *file, tt_error *error) {
  char folder[4000];
  if (file) {
    snprintf(job->path, sizeof job->path, "%s", file);
    return TT_OK;
  }
  TT_TRY(tt_state_folder(NULL, "web", folder, sizeof folder, error));
  snprintf(job->path, sizeof job->path, "%s/tokens", folder);
  return TT_OK;
}

static tt_status run(int argc, char **argv, tt_error *error) {
  token_job job = {.role = TT_ROLE_NONE};
  const char *file = NULL;
  TT_TRY(read_options(argc, argv, &job, &file, error));
  const char *word = optind < argc ? argv[optind++] : "list";
  job.name = optind < argc ? argv[optind++] : NULL;
  for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
    if (strcmp(word, actions[i].name) != 0) continue;
    if (optind < argc || actions[i].takes_name != (job.name != NULL))
      return tt_fail(error, TT_USAGE, "token %s takes %s", word,
                     actions[i].takes_name ? "one NAME" : "no NAME");
    TT_TRY(place_file(&job, file, error));
    return act(&job, i, error);
  }
  return tt_fail(error, TT_USAGE, "token %s: give new, list or remove", word);
}

const tt_app_command tt_app_token = {
    "token", "[list | new NAME --role ROLE | new NAME --replace | remove NAME] [--file FILE]",
    "Makes, lists and removes tokens for the pages, each with a role",
    "A token is printed once; the file keeps its hash. A running program whose web.tokens is the "
    "file\n"
    "takes a change over within a second, and cuts who came by a token that is gone.\n"
    "  --role ROLE      watch: reads; drive: also commands robots; administer: everything\n"
    "  --replace        another token in the place of the one of that name\n"
    "  --file FILE      default: $XDG_STATE_HOME/tether/web/tokens\n",
    run};
