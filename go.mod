module github.com/ambit-sandbox/ambit

go 1.26
