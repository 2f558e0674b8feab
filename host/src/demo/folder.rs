//! The folder the demonstration works on: real files, made anew each time.

use std::io;
use std::path::Path;

/// What stands in the folder.
const FILES: &[(&str, &str)] = &[
    (
        "README.md",
        "# Orders\n\nThe shop's orders of last week, and the notes of whoever packed them.\n",
    ),
    (
        "orders.csv",
        "order,customer,item,amount\n1001,Ada,tea,12.50\n1002,Lin,cups,30.10\n1003,Ada,honey,8.20\n1004,Sol,tea,12.50\n",
    ),
    (
        "notes.txt",
        "Packed all four orders.\nThe label service needs its key: sk-live-51Hq8ZtVbN3xYwKp0Lr7Tg2Mf\nStatus: draft\n",
    ),
    (".gitignore", "build/\n"),
    ("build/output.log", "nothing to see: ignored files are not listed or searched\n"),
];

/// Fills `path`.
///
/// # Errors
/// It cannot be written.
pub(crate) fn fill(path: &Path) -> io::Result<()> {
    for (name, content) in FILES {
        let file = path.join(name);
        if let Some(parent) = file.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(file, content)?;
    }
    Ok(())
}
