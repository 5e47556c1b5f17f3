"use strict";
// A browser reads no other page of a folder (file:), so that results of a search there come without an excerpt.
if (location.protocol === "file:" && typeof DOCUMENTATION_OPTIONS !== "undefined") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}
