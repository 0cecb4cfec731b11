// Calls of a C library from Rust, whose call sites go through the GOT without a PLT.
#[link(name = "tracee")]
extern "C" {
    fn tr_add(a: i32, b: i32) -> i32;
    fn tr_twice(x: i32) -> i32;
}

fn main() {
    for i in 0..20 {
        let (sum, twice) = unsafe { (tr_add(i, 4), tr_twice(i)) };
        println!("tr_add({}, 4) = {}", i, sum);
        println!("tr_twice({}) = {}", i, twice);
        println!("tr_add({}, {}) = {}", i, i, twice);
    }
}
