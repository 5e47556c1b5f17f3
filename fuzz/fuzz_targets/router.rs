//! Files of routers: a refusal has a place, and what is accepted prints as what reads the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_document::Source;
use weir_plane::config::read;

fuzz_target!(|text: &str| match read(&Source { name: "fuzz.toml", text }) {
    Ok(router) => {
        let printed = router.to_toml();
        assert_eq!(read(&Source { name: "printed.toml", text: &printed }), Ok(router));
    }
    // A file that is too long is refused as a whole.
    Err(error) => assert!(error.line > Some(0) || error.key.is_none(), "{error}"),
});
