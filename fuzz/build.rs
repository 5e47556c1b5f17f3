//! Compiles the header of the steering programs for the host: its ways are seen by the fuzzer, and what is undefined in C
//! ends the program.

fn main() {
    println!("cargo::rerun-if-changed=steer");
    println!("cargo::rerun-if-changed=../bpf/steer");
    println!("cargo::rerun-if-env-changed=CLANG");
    // The compiler of the programs for the kernel, as the library has it too.
    cc::Build::new()
        .compiler(std::env::var("CLANG").unwrap_or_else(|_| "clang".into()))
        .file("steer/host.c")
        .include("../bpf/steer")
        .flag("-fsanitize=fuzzer-no-link,undefined")
        .flag("-fsanitize-trap=undefined")
        .compile("weir-steer-host");
}
