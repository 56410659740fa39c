/* nothing.c: the shared object is made of the rooms' own archives; a target wants a source. */
