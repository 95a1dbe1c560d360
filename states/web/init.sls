# A small web root. `grains.root` comes from the roster: empty on a real host, a scratch folder
# in the demo.
{% assign site = pillar.site %}
include:
  - web.tools

site-root:
  file.directory:
    - name: {{ grains.root }}/srv/{{ site.name }}
    - mode: '0755'
    - makedirs: true

index:
  file.managed:
    - name: {{ grains.root }}/srv/{{ site.name }}/index.html
    - source: salt://web/index.html.liquid
    - template: liquid
    - mode: '0644'
    - context:
        title: {{ site.title }}
    - require:
      - file: site-root

{% for page in site.pages %}
{{ grains.root }}/srv/{{ site.name }}/{{ page }}.txt:
  file.managed:
    - contents: |
        {{ page }} of {{ grains.id }}
    - require:
      - file: site-root
{% endfor %}

current:
  file.symlink:
    - name: {{ grains.root }}/srv/current
    - target: {{ grains.root }}/srv/{{ site.name }}
    - require:
      - file: site-root

stamp:
  cmd.run:
    - name: date > {{ grains.root }}/srv/{{ site.name }}/.deployed
    - creates: {{ grains.root }}/srv/{{ site.name }}/.deployed
    - require:
      - file: index

# A reaction: runs only when the page changed.
announce:
  test.configurable_test_state:
    - changes: true
    - comment: the page is new
    - onchanges:
      - file: index
