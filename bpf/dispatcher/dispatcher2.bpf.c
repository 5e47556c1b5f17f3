/* The dispatcher of version 2 of the protocol. */
#define DISPATCHER_VERSION 2
#include "dispatcher.h"
