//! Parquet files are read back by two other programs: the Arrow reader, and pyarrow where Python has it.

#![allow(clippy::print_stdout, reason = "a test that is skipped says why")]

use std::path::PathBuf;
use std::process::Command;

use arrow_array::{Array, Float64Array};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use pfaff_present::Table;

const ROWS: usize = 2500;

fn numbers() -> [Vec<f64>; 3] {
    let t: Vec<f64> = (0..ROWS).map(|i| i as f64 / 7.0).collect();
    let x = t.iter().map(|&t| libm::sin(t) * 1e-300).collect();
    let holes = t.iter().enumerate();
    let holes = holes.map(|(i, &t)| match i % 3 {
        0 => f64::NAN,
        1 => f64::INFINITY,
        _ => -t,
    });
    [t.clone(), x, holes.collect()]
}

fn file(name: &str) -> PathBuf {
    let [t, x, holes] = numbers();
    let columns = vec![
        ("t".to_owned(), t.as_slice()),
        ("phi[1,2]'".to_owned(), x.as_slice()),
        ("mu(c)".to_owned(), holes.as_slice()),
    ];
    let about = vec![("model", "Größe".to_owned()), ("stop", "end".to_owned())];
    let mut bytes = Vec::new();
    Table { columns, about }.write_parquet(&mut bytes).expect("a vector takes every byte");
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).expect("the folder of the tests can be written");
    path
}

#[test]
fn arrow_reads_every_number_back() {
    let opened = std::fs::File::open(file("arrow.parquet")).expect("it was written");
    let builder = ParquetRecordBatchReaderBuilder::try_new(opened).expect("a Parquet file");
    let names: Vec<String> =
        builder.schema().fields().iter().map(|f| f.name().clone()).collect();
    assert_eq!(names, ["t", "phi[1,2]'", "mu(c)"]);
    let about = builder.metadata().file_metadata().key_value_metadata().expect("texts");
    let told = |key: &str| about.iter().find(|p| p.key == key).and_then(|p| p.value.clone());
    assert_eq!(told("model").as_deref(), Some("Größe"));
    assert_eq!(told("stop").as_deref(), Some("end"));
    let wanted = numbers();
    let mut row = 0;
    for batch in builder.build().expect("readable") {
        let batch = batch.expect("readable");
        for (c, wanted) in wanted.iter().enumerate() {
            let column =
                batch.column(c).as_any().downcast_ref::<Float64Array>().expect("doubles");
            for i in 0..batch.num_rows() {
                let value = wanted[row + i];
                assert_eq!(column.is_null(i), !value.is_finite(), "{c} {i}");
                if value.is_finite() {
                    assert_eq!(column.value(i).to_bits(), value.to_bits(), "{c} {i}");
                }
            }
        }
        row += batch.num_rows();
    }
    assert_eq!(row, ROWS);
}

#[test]
fn an_empty_table_is_a_file_too() {
    let mut bytes = Vec::new();
    let columns = vec![("t".to_owned(), &[][..])];
    Table { columns, ..Table::default() }.write_parquet(&mut bytes).expect("written");
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes_of(bytes)).expect("Parquet");
    assert_eq!(builder.metadata().file_metadata().num_rows(), 0);
}

fn bytes_of(bytes: Vec<u8>) -> std::fs::File {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("empty.parquet");
    std::fs::write(&path, bytes).expect("the folder of the tests can be written");
    std::fs::File::open(path).expect("it was written")
}

/// What pyarrow and pandas users see: nulls where nothing is finite, the same sum of the same bits.
#[test]
fn pyarrow_reads_every_number_back() {
    let python = std::env::var("PFAFF_PYTHON").unwrap_or_else(|_| "python3".into());
    let has = Command::new(&python).args(["-c", "import pyarrow.parquet"]).output();
    if !has.is_ok_and(|o| o.status.success()) {
        println!(
            "skipped: no pyarrow; install it for python3, or name a Python by PFAFF_PYTHON"
        );
        return;
    }
    let script = "import sys, struct, pyarrow.parquet as pq
t = pq.read_table(sys.argv[1])
print(t.num_rows, t.column_names, [str(f.type) for f in t.schema])
for name in t.column_names:
    values = t[name].to_pylist()
    bits = [struct.unpack('<Q', struct.pack('<d', v))[0] for v in values if v is not None]
    print(values.count(None), sum(bits) % 2**64)";
    let path = file("pyarrow.parquet");
    let answer =
        Command::new(&python).args(["-c", script]).arg(&path).output().expect("it runs");
    assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
    let mut wanted =
        format!("{ROWS} ['t', \"phi[1,2]'\", 'mu(c)'] ['double', 'double', 'double']\n");
    for column in numbers() {
        let finite: Vec<u64> =
            column.iter().filter(|x| x.is_finite()).map(|x| x.to_bits()).collect();
        let sum = finite.iter().fold(0_u64, |a, b| a.wrapping_add(*b));
        wanted += &format!("{} {sum}\n", ROWS - finite.len());
    }
    assert_eq!(String::from_utf8_lossy(&answer.stdout), wanted);
}
