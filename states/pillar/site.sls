site:
  name: example
  title: Hello from tsalt-ssh
  pages: [about, contact]
