//! Compiles the header of the steering programs for the host, with the sanitizers of the C compiler that stop at once.

fn main() {
    println!("cargo::rerun-if-changed=steer");
    println!("cargo::rerun-if-changed=../bpf/steer");
    cc::Build::new()
        .file("steer/host.c")
        .include("../bpf/steer")
        .flag("-fsanitize=undefined")
        .flag("-fsanitize-undefined-trap-on-error")
        .compile("weir-steer-host");
}
