/* program_config.c: the command line and YAML file of commands that take a CONFIG. See program_config.h. */
#include "app/program_config.h"

#include "base/log.h"
#include "base/nearest.h"
#include "host/wire_keys.h"

#include <stdlib.h>
#include <string.h>

/** What the command line said. */
typedef struct command_line {
  const char *path;
  const char **settings;
  int setting_count;
} command_line;

/** The value of option `name` at argv[*i]: after '=' or the next word; NULL when this is another option. */
static const char *option_value(int argc, char **argv, int *i, const char *name) {
  size_t length = strlen(name);
  // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): argv holds argc words
  if (strncmp(argv[*i], name, length) != 0) return NULL;
  if (argv[*i][length] == '=') return argv[*i] + length + 1;
  if (argv[*i][length] != '\0' || *i + 1 >= argc) return NULL;
  return argv[++*i];
}

/** An option without its value, or one that there is not. */
static tt_status refuse(const char *word, const tt_program_option *options, tt_error *error) {
  tt_nearest nearest = tt_nearest_start(word);
  tt_nearest_offer(&nearest, "--set");
  for (; options != NULL && options->name != NULL; options++)
    tt_nearest_offer(&nearest, options->name);
  if (nearest.best == NULL) return tt_fail(error, TT_USAGE, "there is no option '%s'", word);
  if (strcmp(nearest.best, word) == 0) return tt_fail(error, TT_USAGE, "%s needs a value", word);
  return tt_fail(error, TT_USAGE, "there is no option '%s'; did you mean '%s'?", word,
                 nearest.best);
}

static tt_status read_word(int argc, char **argv, int *i, const tt_program_option *options,
                           command_line *line, tt_error *error) {
  const tt_program_option *first = options;
  const char *value = option_value(argc, argv, i, "--set");
  if (value != NULL) {
    line->settings[line->setting_count++] = value;
    return TT_OK;
  }
  for (; options != NULL && options->name != NULL; options++) {
    value = option_value(argc, argv, i, options->name);
    if (value == NULL) continue;
    *options->target = value;
    return TT_OK;
  }
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): argv holds argc words
  if (argv[*i][0] == '-' && argv[*i][1] != '\0') {
    return refuse(argv[*i], first, error);
  }
  if (line->path != NULL) {
    return tt_fail(error, TT_USAGE, "two files given: %s and %s", line->path, argv[*i]);
  }
  line->path = argv[*i];
  return TT_OK;
}

/** The player that the settings choose; what is none of them is refused later, with its key. */
static int player_of(const command_line *line) {
  static const char key[] = "player=";
  long player = 1;
  for (int i = 0; i < line->setting_count; i++)
    if (strncmp(line->settings[i], key, sizeof key - 1) == 0)
      player = strtol(line->settings[i] + sizeof key - 1, NULL, 10);
  return player >= 1 && player <= TT_MOST_PLAYERS ? (int)player : 1;
}

/** An empty document with the settings that another's file means. */
static tt_status take_meaning(tt_program_config *config, const tt_sharp_original *meaning,
                              tt_error *error) {
  tt_document *made;
  TT_TRY(tt_document_parse(config->document->path, "{}", 2, &made, error));
  tt_document_free(config->document);
  config->document = made;
  memcpy(config->unused, meaning->unused, sizeof config->unused);
  for (int i = 0; i < meaning->count; i++)
    TT_TRY(tt_document_set(made, meaning->settings[i], error));
  return TT_OK;
}

static tt_status translate_file(tt_program_translate *translate, const command_line *line,
                                tt_program_config *config, tt_error *error) {
  tt_sharp_original meaning = {.count = 0};
  tt_status status = translate(config->document, player_of(line), &meaning, error);
  if (status == TT_OK && meaning.count > 0) status = take_meaning(config, &meaning, error);
  tt_sharp_original_free(&meaning);
  return status;
}

static tt_status load(const command_line *line, tt_program_translate *translate,
                      tt_program_config *config, tt_error *error) {
  if (line->path != NULL) {
    TT_TRY(tt_document_load(line->path, &config->document, error));
    if (translate != NULL) TT_TRY(translate_file(translate, line, config, error));
  } else {
    TT_TRY(tt_document_parse("defaults", "{}", 2, &config->document, error));
  }
  config->path = config->document->path;
  for (int i = 0; i < line->setting_count; i++) {
    TT_TRY(tt_document_set(config->document, line->settings[i], error));
  }
  return tt_document_read(config->document, config->schema, &config->keys, error);
}

tt_status tt_program_config_load(int argc, char **argv, const tt_program_option *options,
                                 const cyaml_schema_value_t *schema,
                                 tt_program_translate *translate, tt_program_config *config,
                                 tt_error *error) {
  *config = (tt_program_config){.schema = schema};
  command_line line = {.settings = calloc((size_t)argc + 1, sizeof(char *))};
  if (line.settings == NULL) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_status status = TT_OK;
  for (int i = 1; i < argc && status == TT_OK; i++) {
    status = read_word(argc, argv, &i, options, &line, error);
  }
  if (status == TT_OK) status = load(&line, translate, config, error);
  free(line.settings);
  if (status != TT_OK) tt_program_config_free(config);
  return status;
}

void tt_program_config_say_unused(const tt_program_config *config) {
  if (config->unused[0] != '\0')
    tt_log_info("%s: these keys mean nothing here: %s", config->path, config->unused);
}

void tt_program_config_explain(const tt_program_config *config, tt_error *error) {
  tt_document_explain(config->document, error);
}

void tt_program_config_free(tt_program_config *config) {
  if (config->keys != NULL) tt_document_release(config->schema, config->keys);
  if (config->document != NULL) tt_document_free(config->document);
  *config = (tt_program_config){.schema = config->schema};
}
