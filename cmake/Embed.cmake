# tether_embed(TARGET SYMBOL FILE): the text of FILE becomes a part of TARGET: `extern const char SYMBOL[]`.
function(tether_embed target symbol file)
  get_filename_component(file ${file} ABSOLUTE)
  set(made ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c)
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed_file.cmake)
  add_custom_command(OUTPUT ${made}
    COMMAND ${CMAKE_COMMAND} -DFILE=${file} -DSYMBOL=${symbol} -DMADE=${made} -P ${script}
    DEPENDS ${file} ${script} VERBATIM)
  target_sources(${target} PRIVATE ${made})
endfunction()

# The patterns of a wire's clients, client/ in its folder: PREFIX_python, PREFIX_java, PREFIX_c, PREFIX_cpp.
function(tether_client_patterns target prefix)
  tether_embed(${target} ${prefix}_python client/client.py.in)
  tether_embed(${target} ${prefix}_java client/Client.java.in)
  tether_embed(${target} ${prefix}_c client/client.c.in)
  tether_embed(${target} ${prefix}_cpp client/client.cpp.in)
endfunction()
