/* The dispatcher of version 3 of the protocol. */
#define DISPATCHER_VERSION 3
#include "dispatcher.h"
